package org.headgate.connect;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.ConfigData;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.provider.ConfigProvider;

/**
 * Resolves <code>${headgate:SECRET_UUID:FIELD}</code> in connector configurations by asking Headgate
 * ({@code GET /internal/secrets/SECRET_UUID}) when Connect needs the value.
 *
 * <p>Every failure is a {@link ConfigException}. Kafka leaves a reference whose key is missing from the
 * answer as it stands, and the connector would then use the text of the reference as its password; so an
 * answer without a requested field is a failure too. No exception text holds a value, the credential, or
 * text that came over the network or from a malformed reference (somebody may have pasted a password there).
 *
 * <p>Nothing is cached. Kafka asks once per secret with all of its fields, and a connector start costs a
 * handful of calls; a cache would save little, keep plaintext in the worker's memory, hide a rotated or
 * deleted secret from the next restart, and hide reads from Headgate's audit. For the same reason the data
 * carry no time to live: Connect restarts a connector when one runs out, and a rotation is Headgate's to apply.
 *
 * <p>Installation and parameters: {@code README.md} of this project.
 */
public final class HeadgateConfigProvider implements ConfigProvider {

    private static final Pattern SECRET_ID =
            Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
    private static final Pattern FIELD = Pattern.compile("[a-z_]{1,64}");

    // Connect calls from its herder thread and from its REST threads.
    private volatile SecretClient client;

    /** Made by Connect, which calls {@link #configure} before anything else. */
    public HeadgateConfigProvider() {
        // Nothing to do before the parameters are known.
    }

    /**
     * @param params the worker's {@code config.providers.NAME.param.*}, without that prefix
     * @throws ConfigException when one is missing or not allowed; the worker then does not start
     */
    @Override
    public void configure(Map<String, ?> params) {
        client = new SecretClient(Settings.from(params));
    }

    /**
     * @param path the secret's id, a lower-case UUID
     * @return every field of the secret
     * @throws ConfigException when the secret cannot be had
     */
    @Override
    public ConfigData get(String path) {
        return new ConfigData(configured().read(secretId(path)));
    }

    /**
     * @param path the secret's id, a lower-case UUID
     * @param keys the fields to read, each {@code [a-z_]{1,64}}
     * @return exactly these fields
     * @throws ConfigException when the secret cannot be had or lacks one of them
     */
    @Override
    public ConfigData get(String path, Set<String> keys) {
        String secretId = secretId(path);
        keys.forEach(HeadgateConfigProvider::checkField);
        SecretClient reader = configured();
        if (keys.isEmpty()) {
            return new ConfigData(Map.of());
        }
        Map<String, String> fields = reader.read(secretId);
        Map<String, String> found = new HashMap<>();
        for (String key : keys) {
            if (!fields.containsKey(key)) {
                throw new ConfigException("Secret " + secretId + " has no field '" + key + "'. Check the field name in"
                        + " the reference; if Headgate wrote it, enter the credentials again there and deploy.");
            }
            found.put(key, fields.get(key));
        }
        return new ConfigData(found);
    }

    @Override
    public void close() {
        client = null;
    }

    @Override
    public String toString() {
        return "HeadgateConfigProvider";
    }

    private SecretClient configured() {
        SecretClient current = client;
        if (current == null) {
            throw new ConfigException("The Headgate secret provider is closed or was never configured.");
        }
        return current;
    }

    private static String secretId(String path) {
        if (path == null || !SECRET_ID.matcher(path).matches()) {
            throw new ConfigException("A Headgate reference must name the secret by its lower-case UUID:"
                    + " ${headgate:UUID:FIELD}. Correct the reference in the connector configuration.");
        }
        return path;
    }

    private static void checkField(String key) {
        if (key == null || !FIELD.matcher(key).matches()) {
            throw new ConfigException("The field of a Headgate reference must be 1 to 64 of a-z and _:"
                    + " ${headgate:UUID:FIELD}. Correct the reference in the connector configuration.");
        }
    }
}
