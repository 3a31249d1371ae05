"""One value that this release does not know, wherever an enum is stored, one at a time: everything else goes on."""
