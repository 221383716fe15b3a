"""What each key of `config.toml` is for, in words; the values come from the settings themselves."""

from __future__ import annotations

SETTINGS: dict[str, str] = {
    "models.default": "The model to use when --model names none. Empty: what the environment and this machine offer.",
    "permission.mode": "What runs without asking: ask, accept-edits, plan, auto or always-approve.",
    "permission.allow": 'Rules such as "Bash(npm test)" that are never asked about.',
    "permission.ask": "Rules that are always asked about. A project's own file may set this.",
    "permission.deny": "Rules that are never allowed; they beat all others. A project's own file may set this.",
    "shell.timeout_secs": "Seconds that a command may take unless the model asks for more.",
    "shell.max_timeout_secs": "The most seconds that the model may ask for.",
    "shell.output_limit": "Characters of a command's output that the model gets; all of it is kept in a file.",
    "shell.keep_env": "Variables that commands get although name or value look like a key, token or password, such as "
    '"SENTRY_DSN"; all others of that kind are kept from them.',
    "sandbox.profile": "What commands may do: off, workspace (the default), read-only, strict, devbox or one of "
    "sandbox.toml.",
    "sandbox.protect_secrets": "Hide private keys, tokens and the like from commands, where bubblewrap works.",
    "sandbox.protect_env_files": "Hide the project's .env files from commands, too.",
    "tools.skip_read_before_edit": "Let the model change files that it has not read as they are now.",
    "ui.accessible": "Whole lines only, nothing that ticks or is drawn over, for screen readers.",
    "ui.show_reasoning": "Show the model's reasoning.",
    "ui.vim_mode": "Edit the prompt with vi's keys instead of Emacs's.",
    "session.max_turns": "Most rounds with the model for one prompt; 0 sets no limit.",
    "compaction.pruning.hard_clear_age_turns": "Results of tools older than so many of your prompts are dropped.",
    "storage.cleanup_ttl_days": "Remove sessions that nobody touched for so many days, pinned ones never; 0 keeps all.",
}

MODEL: dict[str, str] = {
    "model": "The name that the server knows it by. Empty: NAME.",
    "base_url": 'Where the API is, as in "https://example.com/v1".',
    "api_backend": 'Which API it speaks: "chat_completions".',
    "api_key": "The key itself. Better one of the next two.",
    "env_key": "The environment variable that holds the key, or several of which the first that is set counts.",
    "api_key_command": "A command that prints the key.",
    "context_window": "How many tokens the model can take in.",
    "max_completion_tokens": "The most tokens of one reply.",
    "temperature": "Sent as it is.",
    "top_p": "Sent as it is.",
    "reasoning_effort": 'Sent as it is, as in "high".',
    "extra_headers": "HTTP headers to send along, as a table.",
    "env_http_headers": "HTTP headers whose values are in environment variables, as a table of their names.",
    "query_params": "Parameters for the address, as a table.",
    "supports": "What the model can do, as a table: {supports}. With text_calls, calls of tools that the model writes "
    "into its text count; not set, they do from servers on this machine or in a private network.",
    "price": "US dollars for a million tokens, as a table, to compute costs: {price}.",
    "limits": "Time limits in seconds, as a table: {limits}.",
}
