/** Parts that the documents of several endpoints share. */
import { authFailure, RETRY_AFTER } from '../documents/failures.js';

export const TEXT = { type: 'string' };
export const MESSAGE = { success: { const: true }, message: TEXT };

export const TOKENS = { token: { ...TEXT, description: 'For `Authorization: Bearer`.' } };

/** With the option `sessions`. */
export const SESSION_TOKENS = {
  refreshToken: { ...TEXT, description: 'For `refresh`, once.' },
  expiresIn: { type: 'integer', description: 'Seconds until `token` expires.', examples: [900] },
};

export const LIMITED = {
  429: {
    ...authFailure('Too many failures before.', 'Too many attempts, try again in 4 seconds'),
    headers: RETRY_AFTER,
  },
};

export const UNREADABLE = {
  413: authFailure('The body is too large.', 'The request body is larger than this server accepts'),
  415: authFailure('The body is of another type.', 'The request body must be application/json in UTF-8'),
};

export const INTERNAL = {
  500: authFailure('An unexpected error.', 'Internal server error'),
  503: { ...authFailure('The server is busy.', 'The server is busy, try again'), headers: RETRY_AFTER },
};
