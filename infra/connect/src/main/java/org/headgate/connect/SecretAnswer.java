package org.headgate.connect;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads <code>{"data": {"FIELD": "VALUE", ...}}</code> (RFC 8259) and refuses everything else: other members, values
 * that are not text, duplicate names, deeper nesting, lone surrogates, bytes that are not UTF-8.
 *
 * <p>Our own reader, because a plug-in cannot count on a JSON library of a known release on the worker's class path.
 * The shape has a fixed depth, so nothing here calls itself and no input can exhaust the stack.
 */
final class SecretAnswer {

    private static final int MAX_FIELDS = 64;

    private final String text;
    private int at;

    private SecretAnswer(String text) {
        this.text = text;
    }

    /** @throws MalformedException when the bytes have any other shape */
    static Map<String, String> parse(byte[] bytes) throws MalformedException {
        try {
            // A new decoder reports bytes that are not UTF-8; a String made of them would hide it.
            String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
            return new SecretAnswer(text).answer();
        } catch (CharacterCodingException e) {
            throw new MalformedException();
        }
    }

    private Map<String, String> answer() throws MalformedException {
        expect('{');
        if (!string().equals("data")) {
            throw new MalformedException();
        }
        expect(':');
        Map<String, String> fields = fields();
        expect('}');
        skipSpace();
        if (at != text.length()) {
            throw new MalformedException();
        }
        return fields;
    }

    private Map<String, String> fields() throws MalformedException {
        Map<String, String> fields = new HashMap<>();
        expect('{');
        if (take('}')) {
            return fields;
        }
        do {
            String name = string();
            expect(':');
            if (fields.put(name, string()) != null || fields.size() > MAX_FIELDS) {
                throw new MalformedException();
            }
        } while (take(','));
        expect('}');
        return fields;
    }

    private String string() throws MalformedException {
        expect('"');
        StringBuilder value = new StringBuilder();
        for (char c = next(); c != '"'; c = next()) {
            if (c < ' ') {
                throw new MalformedException();
            }
            value.append(c == '\\' ? escaped() : c);
        }
        checkSurrogates(value);
        return value.toString();
    }

    private char escaped() throws MalformedException {
        char c = next();
        switch (c) {
            case '"':
            case '\\':
            case '/':
                return c;
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'u':
                return (char) (hex() << 12 | hex() << 8 | hex() << 4 | hex());
            default:
                throw new MalformedException();
        }
    }

    private int hex() throws MalformedException {
        char c = next();
        int digit = c < 128 ? Character.digit(c, 16) : -1; // Java also takes digits of other scripts.
        if (digit < 0) {
            throw new MalformedException();
        }
        return digit;
    }

    /** Half of a pair would reach the database as a question mark: a wrong password, and nobody would know why. */
    private static void checkSurrogates(CharSequence value) throws MalformedException {
        if (value.codePoints().anyMatch(point -> point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE)) {
            throw new MalformedException();
        }
    }

    private void expect(char expected) throws MalformedException {
        if (!take(expected)) {
            throw new MalformedException();
        }
    }

    private boolean take(char expected) {
        skipSpace();
        boolean there = at < text.length() && text.charAt(at) == expected;
        if (there) {
            at++;
        }
        return there;
    }

    private char next() throws MalformedException {
        if (at >= text.length()) {
            throw new MalformedException();
        }
        return text.charAt(at++);
    }

    private void skipSpace() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    /** The answer has another shape. Says no more: its text is not ours. */
    static final class MalformedException extends Exception {
        private static final long serialVersionUID = 1L;
    }
}
