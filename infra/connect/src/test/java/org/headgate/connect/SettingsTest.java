package org.headgate.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTest {

    private static final String URL = "https://headgate.example.com";

    @TempDir
    private Path folder;

    @Test
    void theDefaultsAreFiveSecondsAndThreeRetries() {
        Settings settings = Settings.from(Map.of("url", URL, "token", "t"));
        assertEquals(Duration.ofSeconds(5), settings.timeout());
        assertEquals(3, settings.retries());
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "https://headgate.example.com", "HTTPS://10.0.0.5:8443/base", "http://127.0.0.1:8000", "http://127.8.9.10",
        "http://localhost:8000", "http://[::1]:8000"
    })
    void httpsToAnywhereAndHttpToLoopbackAreAllowed(String url) {
        assertEquals(url + "/internal/secrets/x", Settings.from(Map.of("url", url, "token", "t")).secret("x").toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "http://headgate.example.com", "http://10.0.0.5:8000", "http://0.0.0.0:8000", "http://127.0.0.1.example.com",
        "http://localhost.example.com", "http://example.com/127.0.0.1", "http://[2001:db8::1]:8000", "HTTP://example.com"
    })
    void plainHttpToAnythingButLoopbackIsRefused(String url) {
        ConfigException failure =
                assertThrows(ConfigException.class, () -> Settings.from(Map.of("url", url, "token", "t")));
        assertTrue(failure.getMessage().contains("must be https"), failure.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "headgate.example.com", "https://", "https:///x", "ftp://127.0.0.1", "file:///etc/passwd", "not a url",
        "https://user:hunter2@headgate.example.com", "https://headgate.example.com?x=hunter2",
        "https://headgate.example.com#hunter2", "http://127.0.0.1:99999", "http://127.0.0.1@example.com", ""
    })
    void aUrlOfAnotherFormIsRefusedAndNotRepeated(String url) {
        ConfigException failure =
                assertThrows(ConfigException.class, () -> Settings.from(Map.of("url", url, "token", "t")));
        assertTrue(failure.getMessage().contains("'url'"), failure.getMessage());
        assertFalse(failure.getMessage().contains("hunter2"), failure.getMessage());
    }

    @Test
    void exactlyOneSourceOfTheCredentialIsNeeded() throws Exception {
        Path file = Files.writeString(folder.resolve("token"), "from-file");
        Map<String, String> both = Map.of("url", URL, "token", "t", "token.file", file.toString());
        assertThrows(ConfigException.class, () -> Settings.from(Map.of("url", URL)));
        assertThrows(ConfigException.class, () -> Settings.from(both));
    }

    @Test
    void aTokenFileIsReadAgainEachTimeSoThatItCanBeRotated() throws Exception {
        Path file = Files.writeString(folder.resolve("token"), "first\n");
        Settings settings = Settings.from(Map.of("url", URL, "token.file", file.toString()));
        assertEquals("first", settings.token());
        Files.writeString(file, "second\n");
        assertEquals("second", settings.token());
    }

    @Test
    void aTokenFileThatCannotBeReadIsSaidAtTheStart() {
        Map<String, String> params = Map.of("url", URL, "token.file", folder.resolve("absent").toString());
        ConfigException failure = assertThrows(ConfigException.class, () -> Settings.from(params));
        assertTrue(failure.getMessage().contains("'token.file'"), failure.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"hunter2 two words", "hunter2\r\nX-Evil: 1", "hunter2ü", "hunter2\u0000"})
    void aTokenThatNoHeaderCanCarryIsRefusedAndNotRepeated(String token) throws Exception {
        Path file = Files.writeString(folder.resolve("token"), token + "x");
        Map<String, String> direct = Map.of("url", URL, "token", token + "x");
        Map<String, String> filed = Map.of("url", URL, "token.file", file.toString());
        ConfigException first = assertThrows(ConfigException.class, () -> Settings.from(direct));
        ConfigException second = assertThrows(ConfigException.class, () -> Settings.from(filed));
        assertFalse((first.getMessage() + second.getMessage()).contains("hunter2"));
    }

    @Test
    void anEmptyOrAnEndlessTokenFileIsRefused() throws Exception {
        for (String contents : new String[] {"", "\n", "x".repeat(5000)}) {
            Path file = Files.writeString(folder.resolve("token"), contents);
            Map<String, String> params = Map.of("url", URL, "token.file", file.toString());
            assertThrows(ConfigException.class, () -> Settings.from(params));
        }
    }

    @ParameterizedTest
    @CsvSource({"timeout.ms,0", "timeout.ms,20000", "timeout.ms,-5", "timeout.ms,5s", "retries,11", "retries,many",
        "retries,99999999999"})
    void aNumberOutsideItsBoundsIsRefused(String name, String value) {
        Map<String, String> params = new HashMap<>(Map.of("url", URL, "token", "t"));
        params.put(name, value);
        ConfigException failure = assertThrows(ConfigException.class, () -> Settings.from(params));
        assertTrue(failure.getMessage().contains("'" + name + "'"), failure.getMessage());
    }
}
