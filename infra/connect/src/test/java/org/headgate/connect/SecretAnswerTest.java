package org.headgate.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.headgate.connect.SecretAnswer.MalformedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SecretAnswerTest {

    private static Map<String, String> parse(String text) throws MalformedException {
        return SecretAnswer.parse(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String fields(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> "\"f" + i + "\":\"v\"")
                .collect(Collectors.joining(",", "{\"data\":{", "}}"));
    }

    @Test
    void fieldsAndValuesAreRead() throws Exception {
        assertEquals(Map.of("password", "p", "username", "u"), parse("{\"data\":{\"password\":\"p\",\"username\":\"u\"}}"));
    }

    @Test
    void spaceBetweenTheTokensDoesNotCount() throws Exception {
        assertEquals(Map.of("a", " b "), parse(" {\r\n\t\"data\" : { \"a\" : \" b \" } }\n"));
    }

    @Test
    void aSecretMayHaveNoFieldsAndAValueMayBeEmpty() throws Exception {
        assertEquals(Map.of(), parse("{\"data\":{}}"));
        assertEquals(Map.of("a", ""), parse("{\"data\":{\"a\":\"\"}}"));
    }

    @Test
    void everyEscapeIsUndone() throws Exception {
        assertEquals(
                Map.of("a", "\"\\/\b\f\n\r\té\u0000\uD83D\uDD11"),
                parse("{\"data\":{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u0000\\uD83d\\udd11\"}}"));
    }

    @Test
    void textBeyondAsciiIsReadAsUtf8() throws Exception {
        assertEquals(Map.of("a", "Schlüssel 鍵 🔑"), parse("{\"data\":{\"a\":\"Schlüssel 鍵 🔑\"}}"));
    }

    @Test
    void bracesAndReferencesInsideAValueAreText() throws Exception {
        assertEquals(Map.of("a", "}}{\"data\":${x:y}"), parse("{\"data\":{\"a\":\"}}{\\\"data\\\":${x:y}\"}}"));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", " ", "null", "[]", "\"data\"", "{}", "{\"data\":null}", "{\"data\":[]}", "{\"data\":\"x\"}",
        "{\"Data\":{\"a\":\"b\"}}", "{\"data\":{\"a\":\"b\"},\"more\":{}}", "{\"data\":{},\"data\":{}}",
        "{\"data\":{\"a\":\"b\"}}x", "{\"data\":{\"a\":\"b\"}}{}", "{\"data\":{\"a\":\"b\",}}", "{\"data\":{,}}",
        "{\"data\":{\"a\" \"b\"}}", "{\"data\":{a:\"b\"}}", "{'data':{'a':'b'}}", "{\"data\":{\"a\":\"b\"}",
        "{\"data\":{\"a\":\"b", "{\"data\":{\"a\":\"b\\", "{\"data\":{\"a\":\"\\u12", "{\"data\":{\"a\":\"b\" \"c\":\"d\"}}",
        "/* */{\"data\":{\"a\":\"b\"}}", "\uFEFF{\"data\":{\"a\":\"b\"}}", "\u00A0{\"data\":{\"a\":\"b\"}}"
    })
    void anyOtherShapeIsRefused(String text) {
        assertThrows(MalformedException.class, () -> parse(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "-0", "1e9", "NaN", "true", "false", "null", "[]", "[\"x\"]", "{}", "{\"x\":\"y\"}"})
    void aValueThatIsNotTextIsRefused(String value) {
        assertThrows(MalformedException.class, () -> parse("{\"data\":{\"a\":" + value + "}}"));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "\\x", "\\U0041", "\\u12G4", "\\u+123", "\\u 123", "\\u٠٠٤١", "\\'", "\n", "\t", "\u0001", "\\ud83d", "\\udd11",
        "\\udd11\\ud83d", "\\ud83dx"
    })
    void aBadEscapeAControlCharacterAndHalfAPairAreRefused(String inside) {
        assertThrows(MalformedException.class, () -> parse("{\"data\":{\"a\":\"" + inside + "\"}}"));
    }

    @Test
    void theSameFieldTwiceIsRefusedHoweverItIsWritten() {
        assertThrows(MalformedException.class, () -> parse("{\"data\":{\"a\":\"1\",\"a\":\"2\"}}"));
        assertThrows(MalformedException.class, () -> parse("{\"data\":{\"a\":\"1\",\"\\u0061\":\"2\"}}"));
    }

    @Test
    void deepNestingIsRefusedWithoutDescendingIntoIt() {
        assertThrows(MalformedException.class, () -> parse("[".repeat(60_000)));
        assertThrows(MalformedException.class, () -> parse("{\"data\":".repeat(7_000)));
        assertThrows(MalformedException.class, () -> parse("{\"data\":{\"a\":" + "[".repeat(60_000)));
    }

    @Test
    void moreFieldsThanAnySecretHasAreRefused() throws Exception {
        assertEquals(64, parse(fields(64)).size());
        assertThrows(MalformedException.class, () -> parse(fields(65)));
    }

    @Test
    void bytesThatAreNotUtf8AreRefused() {
        byte[] latin = "{\"data\":{\"a\":\"é\"}}".getBytes(StandardCharsets.ISO_8859_1);
        byte[] wide = "{\"data\":{\"a\":\"b\"}}".getBytes(StandardCharsets.UTF_16);
        assertThrows(MalformedException.class, () -> SecretAnswer.parse(latin));
        assertThrows(MalformedException.class, () -> SecretAnswer.parse(wide));
    }

    @Test
    void aRefusalRepeatsNothingOfTheAnswer() {
        MalformedException refusal =
                assertThrows(MalformedException.class, () -> parse("{\"data\":{\"password\":\"hunter2\"}"));
        assertNull(refusal.getMessage());
        assertNull(refusal.getCause());
    }
}
