package org.headgate.connect;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A server on loopback that gives scripted answers in order, and the last of them from then on. */
final class SecretServer implements AutoCloseable {

    static final String ID = "6f1c2d3e-4a5b-4c6d-8e7f-901234567890";
    static final String TOKEN = "service-credential-7Qx";
    static final String PASSWORD = "pa55-of-orders";

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final List<Answer> answers;
    private final List<String> seen = new CopyOnWriteArrayList<>();

    SecretServer(Answer... answers) throws IOException {
        this(HttpServer.create(), answers);
    }

    SecretServer(HttpServer server, Answer... answers) throws IOException {
        this.server = server;
        this.answers = List.of(answers);
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::handle);
        server.setExecutor(threads);
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    String url() {
        return "http://127.0.0.1:" + port();
    }

    /** One line for each request: method, target, credential. */
    List<String> seen() {
        return seen;
    }

    /** The parameters of a provider that asks this server. */
    Map<String, String> params() {
        return Map.of("url", url(), "token", TOKEN);
    }

    HeadgateConfigProvider provider() {
        return provider(params());
    }

    static HeadgateConfigProvider provider(Map<String, String> params) {
        HeadgateConfigProvider provider = new HeadgateConfigProvider();
        provider.configure(params);
        return provider;
    }

    @Override
    public void close() {
        closing.countDown();
        server.stop(0);
        threads.shutdownNow();
    }

    private void handle(HttpExchange exchange) throws IOException {
        Answer answer;
        synchronized (this) {
            answer = answers.get(Math.min(seen.size(), answers.size() - 1));
            seen.add(exchange.getRequestMethod() + " " + exchange.getRequestURI() + " "
                    + exchange.getRequestHeaders().getFirst("Authorization"));
        }
        answer.give(exchange, closing);
    }

    /** What the server does with a request; {@code closing} opens when the test is over. */
    interface Answer {
        void give(HttpExchange exchange, CountDownLatch closing) throws IOException;
    }

    static Answer secret() {
        return json("{\"data\": {\"password\": \"" + PASSWORD + "\", \"username\": \"reader\"}}");
    }

    static Answer json(String body) {
        return status(200, body);
    }

    static Answer status(int status, String body, String... headers) {
        return bytes(status, body.getBytes(StandardCharsets.UTF_8), headers);
    }

    static Answer bytes(int status, byte[] body, String... headers) {
        return (exchange, closing) -> {
            for (int i = 0; i < headers.length; i += 2) {
                exchange.getResponseHeaders().add(headers[i], headers[i + 1]);
            }
            exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        };
    }

    /** A head, one byte of the body, and then nothing more. */
    static Answer trickle() {
        return (exchange, closing) -> {
            exchange.sendResponseHeaders(200, 100);
            exchange.getResponseBody().write('{');
            exchange.getResponseBody().flush();
            await(closing);
        };
    }

    /** Nothing at all. */
    static Answer silence() {
        return (exchange, closing) -> await(closing);
    }

    /** A body that breaks off before its announced end. */
    static Answer broken() {
        return (exchange, closing) -> {
            exchange.sendResponseHeaders(200, 100);
            exchange.getResponseBody().write("{\"data\"".getBytes(StandardCharsets.UTF_8));
            throw new IOException("hang up");
        };
    }

    private static void await(CountDownLatch closing) {
        try {
            closing.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
