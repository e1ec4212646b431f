import { randomBytes } from 'node:crypto';

import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { UserAccounts } from 'declarest';
import { DataSource } from 'typeorm';

import { CATALOGUE } from './catalogue.js';
import { Category } from './category.js';
import { CONFIG, type Config } from './config.js';
import { Product } from './product.js';
import { reasonOf, StartError } from './start-error.js';
import { User } from './user.js';

/** Fills an empty database: a catalogue, and an administrator. Finds nothing to do on every later start. */
@Injectable()
export class FirstStart implements OnApplicationBootstrap {
  constructor(
    private readonly database: DataSource,
    private readonly accounts: UserAccounts,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!(await this.database.getRepository(Category).exists())) await this.stockTheShelves();
    if (!(await this.database.getRepository(User).exists())) await this.appointAdministrator();
  }

  /** One transaction, so that a start that is cut off leaves no half catalogue. */
  private stockTheShelves(): Promise<void> {
    return this.database.transaction(async (manager) => {
      for (const [name, articles] of Object.entries(CATALOGUE)) {
        const category = await manager.save(Category, { name });
        const products = articles.map(([name, description, price, stock]) => ({
          name,
          description,
          price,
          stock,
          category,
        }));
        await manager.insert(Product, products);
      }
    });
  }

  private async appointAdministrator(): Promise<void> {
    const { adminEmail: email, adminPassword } = this.config;
    const password = adminPassword ?? randomBytes(12).toString('base64url');
    await this.accounts.create({ email, password, role: 'ADMIN' }).catch((cause: unknown) => {
      throw new StartError(`ADMIN_EMAIL: cannot create the administrator ${email}: ${reasonOf(cause)}.`, { cause });
    });
    const hint =
      adminPassword === undefined ? ` with the password ${password} (generated, and shown only this once)` : '';
    console.log(`The administrator is ${email}${hint}`);
  }
}
