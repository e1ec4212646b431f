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

/** Fills an empty database with a catalogue and an administrator. Later starts change nothing. */
@Injectable()
export class FirstStart implements OnApplicationBootstrap {
  /** The password of an administrator that this start created without ADMIN_PASSWORD. */
  generatedPassword: string | undefined;

  constructor(
    private readonly database: DataSource,
    private readonly accounts: UserAccounts,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!(await this.database.getRepository(Category).exists())) await this.createCatalogue();
    if (!(await this.database.getRepository(User).exists())) await this.createAdministrator();
  }

  /** Runs in one transaction, so that an interrupted start leaves no half catalogue. */
  private createCatalogue(): Promise<void> {
    return this.database.transaction(async (manager) => {
      for (const [name, articles] of Object.entries(CATALOGUE)) {
        const category = await manager.save(Category, { name });
        const products = articles.map(([name, description, price, cost, stock]) => ({
          name,
          description,
          price,
          cost,
          stock,
          category,
        }));
        await manager.insert(Product, products);
      }
    });
  }

  private async createAdministrator(): Promise<void> {
    const { adminEmail: email, adminPassword } = this.config;
    const password = adminPassword ?? randomBytes(12).toString('base64url');
    try {
      await this.accounts.ensure({ email, password, role: 'ADMIN' });
    } catch (cause) {
      throw new StartError(`ADMIN_EMAIL: cannot create the administrator ${email}: ${reasonOf(cause)}`, { cause });
    }
    if (adminPassword === undefined) this.generatedPassword = password;
  }
}
