import { Controller, Get, Param, Put, type Type } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty } from '@nestjs/swagger';
import { CurrentUser, type Principal, UserAccounts } from 'declarest';
import { DataSource } from 'typeorm';

import { Order } from './order.js';
import { Product } from './product.js';
import { User } from './user.js';

class Overview {
  @ApiProperty({ type: String, description: 'The e-mail address of who asks.' })
  administrator!: string;

  @ApiProperty({ type: 'integer' })
  users!: number;

  @ApiProperty({ type: 'integer' })
  products!: number;

  @ApiProperty({ type: 'integer' })
  orders!: number;
}

class StaffMember {
  @ApiProperty({ type: String, nullable: true })
  email!: string | null;

  @ApiProperty({ type: String })
  role!: string;
}

/** A controller written by hand. The rules of `ShopSecurity` apply to it as to the generated ones. */
@Controller('/api/admin')
export class AdminController {
  constructor(
    private readonly database: DataSource,
    private readonly accounts: UserAccounts,
  ) {}

  @Get('overview')
  @ApiOperation({ operationId: 'getOverview', summary: 'Count users, products and orders' })
  @ApiOkResponse({ type: Overview, description: 'The counts.' })
  async overview(@CurrentUser() user: Principal): Promise<Overview> {
    const count = (entity: Type): Promise<number> => this.database.getRepository(entity).count();
    const [users, products, orders] = await Promise.all([count(User), count(Product), count(Order)]);
    return { administrator: user.email, users, products, orders };
  }

  /** Makes a customer a member of the staff, from the next login on. */
  @Put('staff/:id')
  @ApiOperation({ operationId: 'hireStaff', summary: 'Make a customer a member of the staff' })
  @ApiOkResponse({ type: StaffMember, description: 'The member of the staff.' })
  async hire(@Param('id') id: string): Promise<StaffMember> {
    const { email, role } = await this.accounts.setRole(id, 'STAFF');
    return { email, role };
  }
}
