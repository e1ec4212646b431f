import type { MigrationInterface, QueryRunner } from 'typeorm';

const CREATE: readonly string[] = [
  // {{CREATE_STATEMENTS}}
];

export class Initial1767225600000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of CREATE) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "users"');
    await queryRunner.query('DROP TABLE "tasks"');
  }
}
