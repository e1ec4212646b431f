import { Controller, Get, Param, Put } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { CurrentUser, type Principal, UserAccounts } from 'declarest';
import { DataSource } from 'typeorm';

import { Order } from './order.js';
import { Product } from './product.js';
import { User } from './user.js';

/** A controller written by hand. The rules of `ShopSecurity` apply to it as to the generated ones. */
@Controller('/api/admin')
export class AdminController {
  constructor(
    private readonly database: DataSource,
    private readonly accounts: UserAccounts,
  ) {}

  @Get('overview')
  @ApiOperation({ summary: 'Count users, products and orders' })
  async overview(@CurrentUser() user: Principal) {
    const [users, products, orders] = await Promise.all(
      [User, Product, Order].map((entity) => this.database.getRepository(entity).count()),
    );
    return { administrator: user.email, users, products, orders };
  }

  /** Makes a customer a member of the staff, from the next login on. */
  @Put('staff/:id')
  @ApiOperation({ summary: 'Make a customer a member of the staff' })
  async hire(@Param('id') id: string) {
    const { email, role } = await this.accounts.setRole(id, 'STAFF');
    return { email, role };
  }
}
