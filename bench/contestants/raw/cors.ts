/** For one origin, whoever asks. */
import { ORIGIN } from '../settings.js';

export const CORS_HEADERS = { 'access-control-allow-origin': ORIGIN, vary: 'Origin' };

export const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, POST, PUT, DELETE, OPTIONS, PATCH',
  'access-control-allow-headers': 'Content-Type, Authorization, X-Requested-With',
  'access-control-max-age': '600',
  ...CORS_HEADERS,
};
