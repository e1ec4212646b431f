/**
 * The form of refresh tokens: the id of a session, a secret of 256 bits, and a tag. The tag says without a query that the
 * token was issued here, so that a spent token is known as such however old it is, and a forged one ends no session.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { ResolvedAuthOptions } from '../options/resolve-options.js';
import { derivedKeys } from '../tokens/derived-keys.js';
import { hashOf } from '../tables/secret-tokens.js';
import { AUTH_OPTIONS } from '../users/options-token.js';

const ID_BYTES = 16;
const SECRET_BYTES = 32;
const TAG_BYTES = 16;
/** Base64url of 64 bytes. */
const FORM = /^[\w-]{86}$/;

export interface RefreshToken {
  readonly text: string;
  readonly sessionId: string;
  readonly hash: string;
}

/** A token that a client has sent, and the ones that replace it, by each secret. */
export interface SentToken extends RefreshToken {
  readonly successors: readonly RefreshToken[];
}

interface Keys {
  readonly tag: Buffer;
  readonly successor: Buffer;
}

@Injectable()
export class RefreshTokens {
  /** The first one makes tokens; the others belong to earlier secrets. */
  private readonly keys: readonly Keys[];

  constructor(@Inject(AUTH_OPTIONS) { serverSecrets }: ResolvedAuthOptions) {
    const successors = derivedKeys(serverSecrets, 'refresh token: successor');
    const tags = derivedKeys(serverSecrets, 'refresh token: tag');
    this.keys = tags.map((tag, index) => ({ tag, successor: successors[index] as Buffer }));
  }

  create(): RefreshToken {
    return this.make(randomBytes(ID_BYTES), randomBytes(SECRET_BYTES));
  }

  /** @returns `undefined` for what was not issued here */
  read(text: string): SentToken | undefined {
    if (!FORM.test(text)) return undefined;
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.toString('base64url') !== text) return undefined;
    const [id, secret] = [bytes.subarray(0, ID_BYTES), bytes.subarray(ID_BYTES, ID_BYTES + SECRET_BYTES)];
    const tag = bytes.subarray(ID_BYTES + SECRET_BYTES);
    if (!this.keys.some((key) => timingSafeEqual(tagOf(key, id, secret), tag))) return undefined;
    return {
      text,
      sessionId: id.toString('hex'),
      hash: hashOf(secret),
      successors: this.keys.map(({ successor }) =>
        this.make(id, createHmac('sha256', successor).update(id).update(secret).digest()),
      ),
    };
  }

  private make(id: Buffer, secret: Buffer): RefreshToken {
    const tag = tagOf(this.keys[0] as Keys, id, secret);
    const text = Buffer.concat([id, secret, tag]).toString('base64url');
    return { text, sessionId: id.toString('hex'), hash: hashOf(secret) };
  }
}

const tagOf = ({ tag }: Keys, id: Buffer, secret: Buffer): Buffer =>
  createHmac('sha256', tag).update(id).update(secret).digest().subarray(0, TAG_BYTES);
