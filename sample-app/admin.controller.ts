import { Controller, Get } from '@nestjs/common';
import { CurrentUser, type Principal } from 'declarest';
import { DataSource } from 'typeorm';

import { Order } from './order.js';
import { Product } from './product.js';
import { User } from './user.js';

/** A controller written by hand. The rules of `ShopSecurity` apply to it as to the generated ones. */
@Controller('/api/admin')
export class AdminController {
  constructor(private readonly database: DataSource) {}

  @Get('overview')
  async overview(@CurrentUser() user: Principal) {
    const [users, products, orders] = await Promise.all(
      [User, Product, Order].map((entity) => this.database.getRepository(entity).count()),
    );
    return { administrator: user.email, users, products, orders };
  }
}
