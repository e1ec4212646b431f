#!/usr/bin/env bash
# Merges the coverage of three runs and checks the thresholds: all tests, those of Express on the package's own adapter, and
# those of the generated endpoints through TypeORM's repository. Set TEST_POSTGRES_URL and TEST_MYSQL_URL for all figures.
set -euo pipefail
cd "$(dirname "$0")/.."

rm -rf coverage
npm run test:coverage -- --coverage.reportsDirectory=coverage/all
TEST_EXPRESS_ADAPTER=own npm run test:coverage -- --coverage.reportsDirectory=coverage/adapter \
  test/routes test/http test/cors test/real-world.spec.ts test/access/routes.spec.ts test/access/spellings.spec.ts
TEST_CRUD_PATH=repository npm run test:coverage -- --coverage.reportsDirectory=coverage/repository \
  test/crud/ --exclude '**/{names,*paths,*statements}.spec.ts'
node scripts/check-coverage.mjs coverage/*/coverage-final.json
