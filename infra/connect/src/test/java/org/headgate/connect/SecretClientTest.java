package org.headgate.connect;

import static org.headgate.connect.SecretServer.ID;
import static org.headgate.connect.SecretServer.PASSWORD;
import static org.headgate.connect.SecretServer.TOKEN;
import static org.headgate.connect.SecretServer.secret;
import static org.headgate.connect.SecretServer.status;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.apache.kafka.common.config.ConfigException;
import org.headgate.connect.SecretServer.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The time limit is for a build that would hang; no test judges speed. */
@Timeout(60)
class SecretClientTest {

    private static final Duration LONG = Duration.ofSeconds(30);

    private static SecretClient client(String url, int timeoutMs, int retries, Duration totalTime) {
        return new SecretClient(
                Settings.from(Map.of("url", url, "token", TOKEN, "timeout.ms", "" + timeoutMs, "retries", "" + retries)),
                totalTime);
    }

    private static String failure(SecretClient client) {
        return assertThrows(ConfigException.class, () -> client.read(ID)).getMessage();
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 500, 502, 503, 504})
    void anAnswerThatMayPassIsAskedForAgain(int status) throws Exception {
        try (SecretServer server = new SecretServer(status(status, "busy"), secret())) {
            assertEquals(PASSWORD, client(server.url(), 5000, 1, LONG).read(ID).get("password"));
            assertEquals(2, server.seen().size());
        }
    }

    @Test
    void aBodyThatBreaksOffIsAskedForAgain() throws Exception {
        try (SecretServer server = new SecretServer(SecretServer.broken(), secret())) {
            assertEquals(PASSWORD, client(server.url(), 5000, 1, LONG).read(ID).get("password"));
        }
    }

    @Test
    void retriesAreBounded() throws Exception {
        try (SecretServer server = new SecretServer(status(503, "busy"))) {
            String message = failure(client(server.url(), 5000, 2, LONG));
            assertEquals(3, server.seen().size());
            assertTrue(message.contains("3 attempt(s)") && message.contains("HTTP 503"), message);
        }
    }

    @ParameterizedTest
    @CsvSource({"400,HTTP 400", "401,service credential", "403,service credential", "404,has no secret",
        "405,HTTP 405", "204,HTTP 204"})
    void aRefusalIsFinalAndSaysWhatToDo(int status, String text) throws Exception {
        try (SecretServer server = new SecretServer(status(status, ""))) {
            String message = failure(client(server.url(), 5000, 3, LONG));
            assertEquals(1, server.seen().size());
            assertTrue(message.contains(text) && message.contains(ID), message);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {301, 302, 303, 307, 308})
    void aRedirectIsNotFollowed(int status) throws Exception {
        try (SecretServer elsewhere = new SecretServer(secret());
                SecretServer server = new SecretServer(status(status, "", "Location", elsewhere.url() + "/x"))) {
            String message = failure(client(server.url(), 5000, 3, LONG));
            assertTrue(message.contains("redirect"), message);
            assertEquals(1, server.seen().size());
            assertEquals(List.of(), elsewhere.seen());
        }
    }

    @Test
    void noServerIsSaidAfterTheRetries() throws Exception {
        int closed;
        try (ServerSocket socket = new ServerSocket(0)) {
            closed = socket.getLocalPort();
        }
        String message = failure(client("http://127.0.0.1:" + closed, 5000, 1, LONG));
        assertTrue(message.contains("no connection") && message.contains("2 attempt(s)"), message);
    }

    @Test
    void aServerThatSaysNothingIsGivenUp() throws Exception {
        try (SecretServer server = new SecretServer(SecretServer.silence())) {
            String message = failure(client(server.url(), 100, 1, LONG));
            assertTrue(message.contains("too long") && message.contains("2 attempt(s)"), message);
        }
    }

    @Test
    void aBodyThatTricklesIsGivenUpThoughItsHeadCameInTime() throws Exception {
        try (SecretServer server = new SecretServer(SecretServer.trickle())) {
            // The second attempt shows that the first ended by its own limit and not by that of all of them.
            String message = failure(client(server.url(), 300, 1, Duration.ofSeconds(10)));
            assertTrue(message.contains("too long") && message.contains("2 attempt(s)"), message);
        }
    }

    @Test
    void theTimeOfAllAttemptsTogetherIsBoundedWhateverTheRetries() throws Exception {
        try (SecretServer server = new SecretServer(SecretServer.silence())) {
            String message = failure(client(server.url(), 15000, 10, Duration.ofMillis(300)));
            assertTrue(message.contains("too long"), message);
            assertEquals(1, server.seen().size());
        }
    }

    @Test
    void aWaitAskedForThatDoesNotFitIsNotWaitedFor() throws Exception {
        try (SecretServer server = new SecretServer(status(429, "", "Retry-After", "3600"), secret())) {
            String message = failure(client(server.url(), 5000, 3, LONG));
            assertTrue(message.contains("HTTP 429"), message);
            assertEquals(1, server.seen().size());
        }
    }

    @Test
    void anAnswerAtTheSizeLimitIsTakenAndOneByteMoreIsNot() throws Exception {
        String head = "{\"data\":{\"password\":\"";
        String value = "x".repeat(64 * 1024 - head.length() - 3);
        try (SecretServer server = new SecretServer(
                SecretServer.json(head + value + "\"}}"), SecretServer.json(head + value + "x\"}}"))) {
            SecretClient client = client(server.url(), 5000, 3, LONG);
            assertEquals(Map.of("password", value), client.read(ID));
            assertTrue(failure(client).contains("65536 bytes"));
            assertEquals(2, server.seen().size());
        }
    }

    @Test
    void anAnswerWithoutEndIsHungUpOn() throws Exception {
        CountDownLatch hungUp = new CountDownLatch(1);
        Answer endless = (exchange, closing) -> {
            exchange.sendResponseHeaders(200, 0);
            try {
                while (closing.getCount() > 0) {
                    exchange.getResponseBody().write(new byte[8192]);
                }
            } catch (IOException e) {
                hungUp.countDown();
                throw e;
            }
        };
        try (SecretServer server = new SecretServer(endless)) {
            assertTrue(failure(client(server.url(), 15000, 0, LONG)).contains("65536 bytes"));
            hungUp.await();
        }
    }

    @Test
    void anAnswerOfAnotherFormIsFinal() throws Exception {
        try (SecretServer server = new SecretServer(status(200, "<html>" + PASSWORD + "</html>"))) {
            String message = failure(client(server.url(), 5000, 3, LONG));
            assertTrue(message.contains("not in Headgate's form") && !message.contains(PASSWORD), message);
            assertEquals(1, server.seen().size());
        }
    }

    @Test
    void anInterruptedReadEndsAndKeepsTheInterrupt() throws Exception {
        try (SecretServer server = new SecretServer(SecretServer.silence())) {
            Thread.currentThread().interrupt();
            String message = failure(client(server.url(), 5000, 3, LONG));
            assertTrue(Thread.interrupted());
            assertTrue(message.contains("interrupted"), message);
        }
    }

    @Test
    void aServerWhoseCertificateIsNotTrustedGetsNoCredential(@TempDir Path folder) throws Exception {
        HttpsServer https = HttpsServer.create();
        https.setHttpsConfigurator(new HttpsConfigurator(selfSigned(folder.resolve("keys.p12"))));
        try (SecretServer server = new SecretServer(https, secret())) {
            String message = failure(client("https://127.0.0.1:" + server.port(), 15000, 0, LONG));
            assertTrue(message.contains("TLS"), message);
            assertEquals(List.of(), server.seen());
        }
    }

    private static SSLContext selfSigned(Path file) throws Exception {
        String password = "changeit";
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), "-genkeypair",
                        "-keyalg", "EC", "-alias", "server", "-dname", "CN=127.0.0.1", "-ext", "san=ip:127.0.0.1",
                        "-storetype", "PKCS12", "-keystore", file.toString(), "-storepass", password)
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes());
        assertEquals(0, keytool.waitFor(), said);
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            keys.load(in, password.toCharArray());
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, password.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        return context;
    }
}
