package org.headgate.connect;

import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.apache.kafka.common.config.ConfigException;

/**
 * Reads one secret from Headgate within a bound of time, size and attempts.
 *
 * <p>Repeats what may be temporary (no connection, time-out, 429, 5xx) and nothing else. The exceptions it
 * throws have no cause on purpose: Connect writes causes to its log and its REST answers, and a cause may
 * quote what the other side sent.
 */
final class SecretClient {

    /** The herder thread of the worker waits for us: every connector of that worker stands still meanwhile. */
    private static final Duration TOTAL_TIME = Duration.ofSeconds(15);

    private static final int MAX_BODY_BYTES = 64 * 1024;
    private static final long FIRST_PAUSE_MS = 250;
    private static final long LONGEST_PAUSE_MS = 2000;

    private final Settings settings;
    private final Duration totalTime;
    private final HttpClient http;

    SecretClient(Settings settings) {
        this(settings, TOTAL_TIME);
    }

    SecretClient(Settings settings, Duration totalTime) {
        this.settings = settings;
        this.totalTime = totalTime;
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER) // The credential goes to the configured address only,
                .proxy(HttpClient.Builder.NO_PROXY) // and through nobody's hands.
                .connectTimeout(settings.timeout())
                .build();
    }

    /**
     * @param secretId a lower-case UUID
     * @return field name to value
     * @throws ConfigException when Headgate refuses, answers something else than a secret, or cannot be reached
     */
    Map<String, String> read(String secretId) {
        long end = System.nanoTime() + totalTime.toNanos();
        for (int attempt = 1; ; attempt++) {
            try {
                return accepted(secretId, once(secretId, Math.min(settings.timeout().toNanos(), left(end))));
            } catch (Transient failure) {
                long pause = Math.max(pauseMs(attempt), failure.retryAfterMs);
                if (attempt > settings.retries() || TimeUnit.MILLISECONDS.toNanos(pause) >= left(end)) {
                    throw new ConfigException("Headgate gave no answer for secret " + secretId + " in " + attempt
                            + " attempt(s): " + failure.getMessage() + ". Check that Headgate runs and that this worker"
                            + " reaches it at the parameter 'url'; then restart the connector.");
                }
                pause(secretId, pause);
            }
        }
    }

    private HttpResponse<byte[]> once(String secretId, long nanos) throws Transient {
        HttpRequest request = HttpRequest.newBuilder(settings.secret(secretId))
                .header("Authorization", "Bearer " + settings.token())
                .header("Accept", "application/json")
                .timeout(Duration.ofNanos(nanos))
                .build();
        CompletableFuture<HttpResponse<byte[]>> answer =
                http.sendAsync(request, head -> new BoundedBody(head.statusCode() == 200 ? MAX_BODY_BYTES : 0));
        try {
            // The request's own time limit ends with the head; this one covers a body that trickles.
            return answer.get(nanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new Transient("it took too long", 0);
        } catch (ExecutionException e) {
            throw new Transient(describe(e.getCause()), 0);
        } catch (InterruptedException e) {
            throw interrupted(secretId);
        } finally {
            answer.cancel(true); // Nothing to do for one that is complete.
        }
    }

    private static Map<String, String> accepted(String secretId, HttpResponse<byte[]> response) throws Transient {
        int status = response.statusCode();
        if (status == 429 || status >= 500) {
            throw new Transient("it answered HTTP " + status, retryAfterMs(response));
        }
        if (status != 200) {
            throw new ConfigException(refusal(secretId, status));
        }
        if (response.body().length > MAX_BODY_BYTES) {
            throw new ConfigException("The answer for secret " + secretId + " is over " + MAX_BODY_BYTES
                    + " bytes: that is no secret of Headgate. Check the parameter 'url'.");
        }
        try {
            return SecretAnswer.parse(response.body());
        } catch (SecretAnswer.MalformedException e) {
            throw new ConfigException("The answer for secret " + secretId + " is not in Headgate's form"
                    + " (an object 'data' of text fields). Check that the parameter 'url' leads to Headgate itself"
                    + " and that its release fits this plug-in.");
        }
    }

    private static String refusal(String secretId, int status) {
        if (status == 401 || status == 403) {
            return "Headgate refused this worker's service credential for secret " + secretId + " (HTTP " + status
                    + "). Give the parameter 'token' or 'token.file' the service credential of that installation.";
        }
        if (status == 404) {
            return "Headgate has no secret " + secretId + " (HTTP 404). It was deleted, or the parameter 'url' leads to"
                    + " another installation. Deploy the pipeline or destination again from Headgate.";
        }
        if (status >= 300 && status < 400) {
            return "A redirect was answered for secret " + secretId + " (HTTP " + status + ") and not followed, for it"
                    + " could carry the credential elsewhere. Give the parameter 'url' the final address of Headgate.";
        }
        return "HTTP " + status + " was answered for secret " + secretId + ". Check that the parameter 'url' leads to"
                + " Headgate itself and that its release fits this plug-in.";
    }

    /** Says of what kind a failure was, in our own words: its text may quote the other side. */
    private static String describe(Throwable failure) {
        if (failure instanceof HttpTimeoutException) {
            return "it took too long";
        }
        if (failure instanceof ConnectException) {
            return "no connection could be made";
        }
        if (failure instanceof SSLException) {
            return "no trusted TLS connection could be made";
        }
        return failure instanceof IOException ? "the connection broke" : "the request failed";
    }

    /** Half of the pause is fixed and half is chance, so that workers started together do not return together. */
    private static long pauseMs(int attempt) {
        long full = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS << Math.min(attempt - 1, 10));
        return full / 2 + ThreadLocalRandom.current().nextLong(full / 2 + 1);
    }

    private static long retryAfterMs(HttpResponse<?> response) {
        String seconds = response.headers().firstValue("Retry-After").orElse("");
        return seconds.matches("[0-9]{1,6}") ? TimeUnit.SECONDS.toMillis(Long.parseLong(seconds)) : 0;
    }

    /** Never zero: the client refuses a time limit of nothing. */
    private static long left(long end) {
        return Math.max(1, end - System.nanoTime());
    }

    private static void pause(String secretId, long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw interrupted(secretId);
        }
    }

    private static ConfigException interrupted(String secretId) {
        Thread.currentThread().interrupt();
        return new ConfigException("Reading secret " + secretId + " was interrupted: the worker is stopping.");
    }

    /** A failure that may be temporary; its message is ours. */
    private static final class Transient extends Exception {
        private static final long serialVersionUID = 1L;
        private final long retryAfterMs;

        Transient(String message, long retryAfterMs) {
            super(message);
            this.retryAfterMs = retryAfterMs;
        }
    }
}
