"""Which passwords are refused although they are long enough: those that are tried first.

Not a list of millions: of the passwords that people use most (published lists of leaked ones), nearly all that have
twelve characters and more are short words of that kind one after another, with digits and signs between them, a row
of keys, or one short piece again and again.
"""

import unicodedata

MIN_CHARACTERS, MAX_CHARACTERS = 12, 256
_TRIED_FIRST = """
abc abcd access account admin administrator adobe alexander amanda andrew angel anthony apple asdf asdfgh ashley
august autumn babygirl bailey baseball basketball batman blink buster butterfly changeme charlie cheese chelsea
chocolate company computer cookie daniel december default demo diamond dragon eminem facebook february flower
football forever freedom friday friend friends fuckyou galaxy george ginger google hannah harley hello home hunter
ihave ilove iloveyou in internet january jennifer jessica jesus jordan joshua july june justin killer letme letmein
liverpool login lol london love lovely loveme manager march master matrix matthew me merlin michael michelle mickey
microsoft monday money monkey mustang my mynoob naruto nicole ninja november october oracle orange pass passphrase
passw passwd password patrick pepper please pokemon princess purple qazwsx qwe qwer qwert qwerty qwertyuiop robert
root samantha samsung secret security september server service shadow silver snoopy soccer spring start starwars
strong student summer sunday sunshine super superman sysadmin system temp test testing thomas thunder tigger time
trustno tuesday user vanessa wednesday welcome welcometo whatever william windows winter work you zaq zaqwsx zxc
zxcvbn zxcvbnm asdfghjkl
"""
_WORDS = frozenset(_TRIED_FIRST.split())
_ROWS = (
    *("abcdefghijklmnopqrstuvwxyz", "01234567890", "1234567890", "1q2w3e4r5t6y7u8i9o0p"),
    *("qwertyuiopasdfghjklzxcvbnm", "qwertyuiop", "asdfghjkl"),
    *("1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p", "qazwsxedcrfvtgbyhnujmikolp", "zaq1xsw2cde3vfr4bgt5nhy6mju7"),
    *("zaq12wsxcde34rfv", "123qweasdzxc", "1234567890ab", "0123456789ab", "112233445566778899"),
)
_LETTERS = str.maketrans("013457@$!", "oieastasi")
_MAX_MONOTONOUS = 4
"""Different characters of a password that counts as monotonous."""
_MAX_PIECE = 6
"""Characters of a piece whose repetition counts as monotonous."""


def is_common(password: str, email: str) -> bool:
    """Whether it is one of the passwords that are tried first, or nothing but the person's own address."""
    text = unicodedata.normalize("NFKC", password).casefold()
    words = _WORDS | {"headgate", *_parts(email)}
    core = text.strip("".join({letter for letter in text if not letter.isalpha()}))
    spellings = (text, text.translate(_LETTERS), core.translate(_LETTERS))
    return _is_monotonous(text) or any(_is_made_of(words, _letters(spelling)) for spelling in spellings)


def _is_monotonous(text: str) -> bool:
    """Few different characters, one short piece repeated, or keys in their order."""
    if len(set(text)) <= _MAX_MONOTONOUS:
        return True
    if any(text == (text[:size] * len(text))[: len(text)] for size in range(1, _MAX_PIECE + 1)):
        return True
    rows = [*_ROWS, *(row[::-1] for row in _ROWS)]
    return any(text in row * 3 for row in rows)


def _is_made_of(words: frozenset[str], letters: str) -> bool:
    """Whether these letters are words one after another. No letters are not: the password may be random digits."""
    ends = {0}
    for at in range(len(letters)):
        if at in ends:
            ends |= {at + len(word) for word in words if letters.startswith(word, at)}
    return bool(letters) and len(letters) in ends


def _parts(email: str) -> set[str]:
    """The words of an address that have letters enough to count."""
    name, _, host = email.casefold().partition("@")
    pieces = map(_letters, (name, *name.replace("-", ".").split("."), *host.split(".")))
    return {piece for piece in pieces if len(piece) > 1}


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text))
