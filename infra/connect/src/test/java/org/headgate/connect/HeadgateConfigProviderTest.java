package org.headgate.connect;

import static org.headgate.connect.SecretServer.ID;
import static org.headgate.connect.SecretServer.PASSWORD;
import static org.headgate.connect.SecretServer.TOKEN;
import static org.headgate.connect.SecretServer.secret;
import static org.headgate.connect.SecretServer.status;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.common.config.ConfigData;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.ConfigTransformer;
import org.apache.kafka.common.config.provider.ConfigProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class HeadgateConfigProviderTest {

    @Test
    void aFieldIsReadWithTheServiceCredential() throws Exception {
        try (SecretServer server = new SecretServer(secret()); HeadgateConfigProvider provider = server.provider()) {
            assertEquals(Map.of("password", PASSWORD), provider.get(ID, Set.of("password")).data());
            assertEquals(List.of("GET /internal/secrets/" + ID + " Bearer " + TOKEN), server.seen());
        }
    }

    @Test
    void theUrlMayCarryAPathAndATrailingSlash() throws Exception {
        try (SecretServer server = new SecretServer(secret());
                HeadgateConfigProvider provider =
                        SecretServer.provider(Map.of("url", server.url() + "/headgate/", "token", TOKEN))) {
            provider.get(ID, Set.of("password"));
            assertEquals(List.of("GET /headgate/internal/secrets/" + ID + " Bearer " + TOKEN), server.seen());
        }
    }

    @Test
    void severalFieldsOfOneConfigurationTakeOneRequest() throws Exception {
        try (SecretServer server = new SecretServer(secret()); HeadgateConfigProvider provider = server.provider()) {
            // Kafka's own code that resolves references in Connect.
            Map<String, String> resolved = new ConfigTransformer(Map.of("headgate", provider))
                    .transform(Map.of(
                            "database.user", "${headgate:" + ID + ":username}",
                            "database.password", "${headgate:" + ID + ":password}"))
                    .data();
            assertEquals(Map.of("database.user", "reader", "database.password", PASSWORD), resolved);
            assertEquals(1, server.seen().size());
        }
    }

    @Test
    void aSecretThatLooksLikeAReferenceStaysAsItIs() throws Exception {
        String value = "${headgate:" + ID + ":username}";
        try (SecretServer server = new SecretServer(SecretServer.json("{\"data\":{\"password\":\"" + value + "\"}}"));
                HeadgateConfigProvider provider = server.provider()) {
            Map<String, String> resolved = new ConfigTransformer(Map.of("headgate", provider))
                    .transform(Map.of("database.password", "${headgate:" + ID + ":password}"))
                    .data();
            assertEquals(Map.of("database.password", value), resolved);
        }
    }

    @Test
    void nothingIsCachedSoARotatedSecretIsSeenByTheNextRead() throws Exception {
        try (SecretServer server = new SecretServer(secret(), SecretServer.json("{\"data\":{\"password\":\"new\"}}"));
                HeadgateConfigProvider provider = server.provider()) {
            provider.get(ID, Set.of("password"));
            assertEquals(Map.of("password", "new"), provider.get(ID, Set.of("password")).data());
        }
    }

    @Test
    void theAnswerHasNoTimeToLiveSoConnectPlansNoRestart() throws Exception {
        try (SecretServer server = new SecretServer(secret()); HeadgateConfigProvider provider = server.provider()) {
            ConfigData answer = provider.get(ID, Set.of("password"));
            assertNull(answer.ttl());
        }
    }

    @Test
    void withoutFieldsTheWholeSecretIsGiven() throws Exception {
        try (SecretServer server = new SecretServer(secret()); HeadgateConfigProvider provider = server.provider()) {
            assertEquals(Map.of("password", PASSWORD, "username", "reader"), provider.get(ID).data());
        }
    }

    @Test
    void anEmptySetOfFieldsNeedsNoRequest() throws Exception {
        try (SecretServer server = new SecretServer(secret()); HeadgateConfigProvider provider = server.provider()) {
            assertEquals(Map.of(), provider.get(ID, Set.of()).data());
            assertEquals(List.of(), server.seen());
        }
    }

    @Test
    void aMissingFieldIsAFailureThatNamesIt() throws Exception {
        try (SecretServer server = new SecretServer(secret()); HeadgateConfigProvider provider = server.provider()) {
            ConfigException failure = assertThrows(
                    ConfigException.class, () -> provider.get(ID, Set.of("password", "session_token")));
            assertTrue(failure.getMessage().contains("'session_token'"), failure.getMessage());
            assertFalse(failure.getMessage().contains(PASSWORD), failure.getMessage());
        }
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {
        "", "orders", "6F1C2D3E-4A5B-4C6D-8E7F-901234567890", "6f1c2d3e4a5b4c6d8e7f901234567890",
        ID + "/..", "../" + ID, ID + "?x=1", ID + "\n", " " + ID
    })
    void aPathThatIsNotALowerCaseUuidIsRefusedUnasked(String path) throws Exception {
        try (SecretServer server = new SecretServer(secret()); HeadgateConfigProvider provider = server.provider()) {
            assertThrows(ConfigException.class, () -> provider.get(path, Set.of("password")));
            assertThrows(ConfigException.class, () -> provider.get(path));
            assertEquals(List.of(), server.seen());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Password", "pass-word", "pass word", "password1", "päss", "password\n",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})
    void aFieldOutsideTheAlphabetIsRefusedUnasked(String field) throws Exception {
        try (SecretServer server = new SecretServer(secret()); HeadgateConfigProvider provider = server.provider()) {
            assertThrows(ConfigException.class, () -> provider.get(ID, Set.of(field)));
            assertEquals(List.of(), server.seen());
        }
    }

    @Test
    void aPasswordPastedIntoAReferenceIsNotRepeated() throws Exception {
        try (SecretServer server = new SecretServer(secret()); HeadgateConfigProvider provider = server.provider()) {
            String pasted = "Hunter2!";
            ConfigException inPath = assertThrows(ConfigException.class, () -> provider.get(pasted, Set.of("password")));
            ConfigException inField = assertThrows(ConfigException.class, () -> provider.get(ID, Set.of(pasted)));
            assertFalse((inPath.getMessage() + inField.getMessage()).contains(pasted));
        }
    }

    @Test
    void aProviderThatIsClosedOrWasNeverConfiguredSaysSo() throws Exception {
        try (SecretServer server = new SecretServer(secret())) {
            HeadgateConfigProvider provider = new HeadgateConfigProvider();
            assertThrows(ConfigException.class, () -> provider.get(ID, Set.of("password")));
            provider.configure(server.params());
            provider.close();
            assertThrows(ConfigException.class, () -> provider.get(ID, Set.of("password")));
            assertEquals(List.of(), server.seen());
        }
    }

    @Test
    void theTextOfTheProviderShowsNoCredential() throws Exception {
        try (SecretServer server = new SecretServer(secret()); HeadgateConfigProvider provider = server.provider()) {
            assertFalse(provider.toString().contains(TOKEN));
            assertFalse(Settings.from(server.params()).toString().contains(TOKEN));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {301, 400, 401, 403, 404, 429, 500})
    void noFailureRepeatsTheCredentialOrWhatTheServerSaid(int status) throws Exception {
        String said = "the token " + TOKEN + " may not read " + PASSWORD;
        try (SecretServer server = new SecretServer(status(status, said, "X-Detail", said));
                HeadgateConfigProvider provider =
                        SecretServer.provider(Map.of("url", server.url(), "token", TOKEN, "retries", "0"))) {
            ConfigException failure = assertThrows(ConfigException.class, () -> provider.get(ID, Set.of("password")));
            assertFalse(failure.getMessage().contains(TOKEN), failure.getMessage());
            assertFalse(failure.getMessage().contains(PASSWORD), failure.getMessage());
            assertNull(failure.getCause());
            assertEquals(0, failure.getSuppressed().length);
        }
    }

    @Test
    void theServiceLoaderFindsTheProvider() {
        List<ConfigProvider> found = ServiceLoader.load(ConfigProvider.class).stream()
                .filter(provider -> provider.type().getName().startsWith("org.headgate."))
                .map(ServiceLoader.Provider::get)
                .collect(Collectors.toList());
        assertEquals(1, found.size());
        assertInstanceOf(HeadgateConfigProvider.class, found.get(0));
    }
}
