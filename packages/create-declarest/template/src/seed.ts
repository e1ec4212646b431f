// npm run seed: users and tasks for development. It adds what is missing, and changes nothing.
import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import { DuplicateUserError, UserAccounts } from 'declarest';
import { DataSource } from 'typeorm';
import { AppModule } from './app.module.js';
import { isProduction } from './environment.js';
import { Task } from './task.entity.js';

const USERS = { 'admin@example.com': 'ADMIN', 'user@example.com': 'USER' };
const TASKS = ['Look at /docs', 'Change a task in /admin', 'Declare a resource'];

if (isProduction) {
  console.error('Seeds are for development: NODE_ENV is production.');
  process.exit(1);
}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });

const accounts = app.get(UserAccounts);
for (const [email, role] of Object.entries(USERS)) {
  const password = randomBytes(12).toString('base64url');
  try {
    await accounts.create({ email, password, role });
    console.log(`Created ${email} with the role ${role} and the password ${password}`);
  } catch (error) {
    if (!(error instanceof DuplicateUserError)) throw error;
    console.log(`${email} exists`);
  }
}

const tasks = app.get(DataSource).getRepository(Task);
for (const title of TASKS) if (!(await tasks.existsBy({ title }))) await tasks.insert({ title });

await app.close();
