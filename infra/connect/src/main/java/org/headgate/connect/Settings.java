package org.headgate.connect;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.ConfigException;

/** The provider's parameters, checked. No text made here repeats a parameter's value. */
final class Settings {

    private static final String URL = "url";
    private static final String TOKEN = "token";
    private static final String TOKEN_FILE = "token.file";
    private static final String TIMEOUT_MS = "timeout.ms";
    private static final String RETRIES = "retries";

    private static final int MAX_TOKEN_BYTES = 4096;
    private static final Pattern VISIBLE_ASCII = Pattern.compile("[!-~]{1," + MAX_TOKEN_BYTES + "}");
    private static final Pattern IPV4_LOOPBACK = Pattern.compile("127(\\.[0-9]{1,3}){3}");

    private final String base;
    private final String token;
    private final Path tokenFile;
    private final Duration timeout;
    private final int retries;

    private Settings(String base, String token, Path tokenFile, Duration timeout, int retries) {
        this.base = base;
        this.token = token;
        this.tokenFile = tokenFile;
        this.timeout = timeout;
        this.retries = retries;
    }

    /** @throws ConfigException when a parameter is missing or not allowed, or the token file cannot be read */
    static Settings from(Map<String, ?> params) {
        String token = text(params, TOKEN);
        String file = text(params, TOKEN_FILE);
        if (token.isEmpty() == file.isEmpty()) {
            throw new ConfigException("The Headgate secret provider needs exactly one of the parameters '" + TOKEN
                    + "' and '" + TOKEN_FILE + "'.");
        }
        Settings settings = new Settings(
                base(text(params, URL)),
                token.isEmpty() ? null : checkedToken(token, TOKEN),
                file.isEmpty() ? null : path(file),
                Duration.ofMillis(number(params, TIMEOUT_MS, 5000, 50, 15000)),
                number(params, RETRIES, 3, 0, 10));
        settings.token(); // An unreadable file is said at the worker's start, not at the first connector's.
        return settings;
    }

    /** The address of one secret. */
    URI secret(String secretId) {
        return URI.create(base + "/internal/secrets/" + secretId);
    }

    /** The service credential; a file is read again each time, so that it can be rotated without a restart. */
    String token() {
        return tokenFile == null ? token : checkedToken(contents(tokenFile), TOKEN_FILE);
    }

    /** The longest that one request may take, connecting and body included. */
    Duration timeout() {
        return timeout;
    }

    /** How many times a request is repeated after the first. */
    int retries() {
        return retries;
    }

    @Override
    public String toString() {
        return "Settings[timeout=" + timeout + ", retries=" + retries + "]";
    }

    private static String base(String text) {
        URI uri;
        try {
            uri = new URI(text);
        } catch (URISyntaxException e) {
            throw invalid(URL, "is not a URL");
        }
        String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
        if (uri.getHost() == null || uri.getPort() > 65535 || !(scheme.equals("https") || scheme.equals("http"))) {
            throw invalid(URL, "must be https://HOST[:PORT], or http:// on loopback");
        }
        if (uri.getRawUserInfo() != null || uri.getRawQuery() != null || uri.getRawFragment() != null) {
            throw invalid(URL, "must have no user, query or fragment");
        }
        if (scheme.equals("http") && !isLoopback(uri.getHost())) {
            throw invalid(URL, "must be https: plain http is allowed to 127.0.0.1, [::1] and localhost only");
        }
        return text.replaceAll("/+$", "");
    }

    /** Judged by the text alone: a name that resolves to loopback today may resolve elsewhere tomorrow. */
    private static boolean isLoopback(String host) {
        return host.equalsIgnoreCase("localhost") || host.equals("[::1]") || IPV4_LOOPBACK.matcher(host).matches();
    }

    private static Path path(String file) {
        try {
            return Path.of(file);
        } catch (InvalidPathException e) {
            throw invalid(TOKEN_FILE, "is not a file name");
        }
    }

    private static String contents(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(MAX_TOKEN_BYTES + 2), StandardCharsets.UTF_8).trim();
        } catch (IOException e) {
            throw invalid(TOKEN_FILE, "names a file that this worker cannot read");
        }
    }

    /** Also keeps the JDK from refusing the header itself, for it would repeat the credential in its message. */
    private static String checkedToken(String token, String name) {
        if (!VISIBLE_ASCII.matcher(token).matches()) {
            throw invalid(name, "must hold 1 to " + MAX_TOKEN_BYTES + " visible ASCII characters");
        }
        return token;
    }

    private static int number(Map<String, ?> params, String name, int fallback, int least, int most) {
        String text = text(params, name);
        if (text.isEmpty()) {
            return fallback;
        }
        if (!text.matches("[0-9]{1,6}") || Integer.parseInt(text) < least || Integer.parseInt(text) > most) {
            throw invalid(name, "must be a whole number from " + least + " to " + most);
        }
        return Integer.parseInt(text);
    }

    private static String text(Map<String, ?> params, String name) {
        Object value = params.get(name);
        return value == null ? "" : value.toString().trim();
    }

    private static ConfigException invalid(String name, String what) {
        return new ConfigException("The parameter '" + name + "' of the Headgate secret provider " + what + ".");
    }
}
