"""Documents of our own that hold every element and many ways in which they meet, and a maker of odd ones."""

from __future__ import annotations

from hypothesis import strategies as st

WHOLE = r"""# Title with `code`

Some **bold** and *it* and ~~old~~ text, a [link](https://example.com/a) and <https://auto.example>,
https://bare.example/x. &amp; &lt;b&gt; Ein langer Satz, der umbrochen wird, damit man sieht, wo er bricht.

Intro:
- one
- two with `x`
  - nested **b**
    - deeper
- [ ] todo
- [x] done

  para in done

  ```python
  def f(x):
      return "a" + 1  # c
  ```
1. a
1. b
   more
10. ten
  - under ten
11. eleven

```python title=x
class A:
    '''doc
    string'''

    x = 1
```
after

> quote one
> - li
lazy
> ```
> code
> ```

| Name | Wert | 日本語 |
|:-----|-----:|:--:|
| a\|b | 12 | 日本 |
| `c` | **3** | x<br>y |
not a row

<details>
<summary>S</summary>

text<br>broken

<!-- a comment

that goes on -->
```12:14:src/a.py
def f():
    pass
```

See [^1] and [ref] now. \(x_1 + y_2\) and \[ E = mc^2 \]

[^1]: the note
    more of it
[^two]: another
[ref]: https://ref.example "title"

Now [ref] works, ![img](a.png) and H\_x too.

---
Setext
======
Second
------
    not code

    code by indent

    more
~~~
unclosed fence
- no list
"""

CORNERS = [
    "",
    "\n\n\n",
    "a",
    "a\r\nb\r\n\r\n- c\r- d",
    "- a\n\n\n- b\n\n  c\n\nd",
    "- \n\n  x\n-\n- y",
    "* * *\n- - a\n+ + b",
    "1. a\n   1. b\n      1. c\n2) d",
    "```\n\n\n```\n```\n```",
    "````\n```\n````\nx",
    "- ```\n  code\n\n  more\n  ```\n  text\n- b",
    "> a\n\n> b\n> > c\nlazy\n\nd",
    "| a |\n|---|\n| b |\n\n| c | d |\n|---|\n",
    "text\n| a | b |\n|---|---|\n| 1 | 2 | 3 |\n| 1 |\n# h",
    "[a]: b\n[a]\n\n[a]: c\n\n[a] [A]",
    "<script>\n\nx\n</script> y\nz",
    "<p>\na\n\n<custom-tag>\nb",
    "[^a]: x\n\n    more\n\nnot more [^a]",
    "a  \nb\\\nc",
    "**a *b** c*\n__d_",
    "\\\n\\[\n\\(",
    "[a](b\n[c]\n![",
    "&#27;[2J &#x202e; &nbsp;x",
    "\x1b[2Ja\x07\u202eb",
    "Überschrift\n===\n👨\u200d👩\u200d👧 日本語日本語日本語日本語",
    "\tcode\n\n\tmore\n \t x",
    "a\n- b\n2. c\n1. d",
    "#\n##x\n####### y\n# z #",
]

_LINES = st.sampled_from([
    "", "", "a", "b **c**", "- x", "  - y", "    z", "1. n",
    "2. m", "  text", "> q", "```", "```py", "~~~", "---", "===",
    "# h", "| a | b |", "|---|---|", "| 1 | 2 |", "<div>", "<!--", "-->", "[^n]: note",
    "[r]: u", "[r]", "\tt", "* *", "`c", "\\", "  ```", "   ",
    ">", "-", "日本語 text", "x\x1b[1m", "<b>i</b>", "$a_b$", "\\[ x", "\\]",
    "+ p", "10. q",
])  # fmt: skip

ODD = st.one_of(
    st.lists(_LINES, max_size=25).map("\n".join),
    st.text(alphabet="ab *_`[]()<>!#-+|>~\\\n\t\r&;:1.^日\x1b\u202e", max_size=120),
)


def pieces_of(text: str, cuts: list[int]) -> list[str]:
    """The text cut at these places (taken modulo its length)."""
    places = sorted({cut % (len(text) + 1) for cut in cuts})
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
