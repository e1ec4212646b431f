/** A transaction of @nestjs-cls/transactional. */
import { ConflictException, Injectable, Module } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { ClsPluginTransactional, Transactional, TransactionHost } from '@nestjs-cls/transactional';
import { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { CrudController, CrudModule, joinTransaction } from 'declarest';
import { ClsModule } from 'nestjs-cls';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity()
export class Errand {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 80 }) title!: string;
}

@Entity()
export class ErrandLog {
  @PrimaryGeneratedColumn() id!: number;
  @Column('integer') errandId!: number;
}

export class ErrandsController extends CrudController({ entity: Errand, endpoint: '/api/errands' }) {}

@Injectable()
export class ErrandService {
  constructor(
    private readonly host: TransactionHost<TransactionalAdapterTypeOrm>,
    private readonly moduleRef: ModuleRef,
  ) {}

  @Transactional()
  place(title: string): Promise<number> {
    const errands = this.moduleRef.get(ErrandsController, { strict: false });
    return joinTransaction(this.host.tx, async () => {
      const { data } = await errands.create({ title });
      await this.host.tx.insert(ErrandLog, { errandId: data.id });
      if (title === 'refused') throw new ConflictException();
      return data.id;
    });
  }
}

const transactions = new ClsPluginTransactional({
  adapter: new TransactionalAdapterTypeOrm({ dataSourceToken: getDataSourceToken() as string }),
});

@Module({
  imports: [
    ClsModule.forRoot({ plugins: [transactions] }),
    CrudModule.forFeature(ErrandsController),
    TypeOrmModule.forFeature([ErrandLog]),
  ],
  providers: [ErrandService],
})
export class ErrandsModule {}
