// Reads the environment. A variable that is already set overrides .env, and an empty one counts as not set.
import { existsSync } from 'node:fs';

if (existsSync('.env')) process.loadEnvFile();

const { env } = process;
const isTest = env['NODE_ENV'] === 'test';

export const port = Number(env['PORT'] || 3000);
export const jwtSecret = env['JWT_SECRET'] || undefined;
export const frontEndOrigin = env['FRONT_END_ORIGIN'] || 'http://localhost:5173';
export const database = isTest ? ':memory:' : env['DATABASE_FILE'] || 'data/{{NAME}}.db'; // {{DATABASE}}
