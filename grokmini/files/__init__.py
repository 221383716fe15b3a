"""Opening and finding what lies on the disk, safely whoever else can change it: descriptors, regular files, places."""
