// An OpenID provider on loopback: oidc-provider with one client, its own login form, and people from a file.
//
//   node provider.mjs SETTINGS.json
//
// Settings: port, client_id, client_secret (absent: a public client), redirect_uri, people (path of a JSON file:
// name to claims, read at each look-up, so that a test changes it), claims_in_id_token, algorithm. The keys are new at
// each start. Nothing is kept: a restart forgets every session and grant.
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Provider from 'oidc-provider';

const settings = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const algorithm = settings.algorithm ?? 'RS256';
const pair = algorithm.startsWith('ES')
  ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
  : generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = { ...pair.privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: algorithm };

const people = () => JSON.parse(readFileSync(settings.people, 'utf8'));

const provider = new Provider(`http://127.0.0.1:${settings.port}`, {
  clients: [{
    client_id: settings.client_id,
    ...(settings.client_secret ? { client_secret: settings.client_secret } : {}),
    token_endpoint_auth_method: settings.client_secret ? 'client_secret_basic' : 'none',
    id_token_signed_response_alg: algorithm,
    redirect_uris: [settings.redirect_uri],
  }],
  jwks: { keys: [key] },
  enabledJWA: { idTokenSigningAlgValues: [algorithm] },
  cookies: { keys: [randomBytes(32).toString('hex')] },
  claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
  scopes: ['openid', 'email', 'groups'],
  conformIdTokenClaims: !settings.claims_in_id_token,
  pkce: { required: () => true },
  findAccount: (_ctx, sub) => {
    const found = people()[sub];
    return found && { accountId: sub, claims: () => ({ sub, ...found }) };
  },
  // Everybody has consented to everything that the one client asks for.
  loadExistingGrant: async (ctx) => {
    const grant = new ctx.oidc.provider.Grant({
      clientId: ctx.oidc.client.clientId,
      accountId: ctx.oidc.session.accountId,
    });
    grant.addOIDCScope('openid email groups');
    await grant.save();
    return grant;
  },
});

const server = provider.listen(settings.port, '127.0.0.1');
process.on('SIGTERM', () => {
  server.closeAllConnections();
  server.close(() => process.exit(0));
});
