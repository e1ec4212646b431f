#!/usr/bin/env bash
# Merges the coverage of three runs and checks the thresholds: all tests, those of Express on the package's own adapter, and
# those of the generated endpoints through TypeORM's repository. Set TEST_POSTGRES_URL and TEST_MYSQL_URL for all figures.
set -euo pipefail
cd "$(dirname "$0")/.."

rm -rf coverage
npm run test:coverage -- --coverageDirectory=coverage/all
TEST_EXPRESS_ADAPTER=own npm run test:coverage -- --coverageDirectory=coverage/adapter \
  test/routes test/http test/cors test/real-world.spec.ts test/access/routes.spec.ts test/access/spellings.spec.ts
TEST_CRUD_PATH=repository npm run test:coverage -- --coverageDirectory=coverage/repository \
  test/crud/ --testPathIgnorePatterns /node_modules/ both-paths names.spec paths.spec statements.spec
node scripts/check-coverage.mjs coverage/*/coverage-final.json
