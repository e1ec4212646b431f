// npm run migration:generate <Name>: writes the migrations of changed entities for SQLite and PostgreSQL.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isProduction } from './environment.js';

const TYPEORM = fileURLToPath(import.meta.resolve('typeorm/cli.js'));
const OPTIONS = ['--dataSource', 'dist/data-source.js'];

const [name = ''] = process.argv.slice(2);
const postgres = process.env['TEST_DATABASE_URL'];
if (isProduction || !/^\w+$/.test(name) || !postgres) {
  console.error(
    'Set TEST_DATABASE_URL to a database of PostgreSQL, and give a name: npm run migration:generate AddDueDate',
  );
  process.exit(1);
}

const typeorm = (url: string, ...args: readonly string[]): boolean => {
  const env = { ...process.env, DATABASE_URL: url };
  return spawnSync(process.execPath, [TYPEORM, ...args, ...OPTIONS], { env, stdio: 'inherit' }).status === 0;
};

for (const [folder, url] of Object.entries({ sqlite: '', postgres }))
  if (!typeorm(url, 'migration:run') || !typeorm(url, 'migration:generate', `src/migrations/${folder}/${name}`))
    process.exitCode = 1;
