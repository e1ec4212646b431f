/** An issuer of tokens on loopback, whose answers a test may change. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type GenerateKeyPairResult,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose';

export interface Issuer {
  readonly issuer: string;
  /** The published keys. */
  keys: JWK[];
  /** Answers in place of the issuer. `undefined`: the issuer answers itself. */
  answer: ((path: string, response: ServerResponse) => void) | undefined;
  /** The requests so far. */
  readonly asked: string[];
  readonly privateKey: CryptoKey;
  addKey(kid: string, algorithm?: string): Promise<CryptoKey>;
  sign(claims?: object, header?: Partial<JWTHeaderParameters>, key?: CryptoKey | Uint8Array): Promise<string>;
  /** Refuses connections. */
  close(): Promise<void>;
  reopen(): Promise<void>;
}

export const AUDIENCE = 'notes';

/** Is closed when the test ends. @param path of the issuer, such as `/realms/shop` @param discovery the path of its metadata */
export async function startIssuer(
  path = '',
  discovery = `${path}/.well-known/openid-configuration`,
  keyPair?: GenerateKeyPairResult,
): Promise<Issuer> {
  const asked: string[] = [];
  const server = createServer((incoming, response) => {
    const url = String(incoming.url);
    asked.push(url);
    if (issuer.answer) return issuer.answer(url, response);
    const isMetadata = url === discovery;
    if (!isMetadata && url !== `${path}/keys`) return response.writeHead(404).end();
    const metadata = { issuer: issuer.issuer, jwks_uri: `${issuer.issuer.replace(/\/$/, '')}/keys` };
    return response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(isMetadata ? metadata : { keys: issuer.keys }));
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const first = keyPair ?? (await generateKeyPair('RS256', { extractable: true }));
  const issuer: Issuer = {
    issuer: `http://127.0.0.1:${port}${path}`,
    keys: [{ ...(await exportJWK(first.publicKey)), kid: 'first', alg: 'RS256', use: 'sig' }],
    answer: undefined,
    asked,
    privateKey: first.privateKey,
    async addKey(kid, algorithm = 'RS256') {
      const pair = await generateKeyPair(algorithm, { extractable: true });
      issuer.keys.push({ ...(await exportJWK(pair.publicKey)), kid, alg: algorithm });
      return pair.privateKey;
    },
    sign: (claims = {}, header = {}, key = first.privateKey) =>
      new SignJWT({
        iss: issuer.issuer,
        aud: AUDIENCE,
        sub: 'ann',
        exp: Math.floor(Date.now() / 1000) + 300,
        ...claims,
      })
        .setProtectedHeader({ alg: 'RS256', kid: 'first', typ: 'at+jwt', ...header })
        .sign(key),
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
    reopen: () => listen(port),
  };
  onTestFinished(() => (server.listening ? issuer.close() : undefined));
  return issuer;
}
