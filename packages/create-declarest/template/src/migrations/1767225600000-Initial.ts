import type { MigrationInterface, QueryRunner } from 'typeorm';

const CREATE: string[] = [
  // {{CREATE_STATEMENTS}}
];
const DROP: string[] = [
  // {{DROP_STATEMENTS}}
];

export class Initial1767225600000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of CREATE) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DROP) await queryRunner.query(statement);
  }
}
