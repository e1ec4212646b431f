/** A transaction of typeorm-transactional, after `initializeTransactionalContext`. */
import { ConflictException, Injectable, Module } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CrudController, CrudModule } from 'declarest';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { addTransactionalDataSource, Transactional } from 'typeorm-transactional';

@Entity()
export class Trip {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 80 }) title!: string;
}

@Entity()
export class TripLog {
  @PrimaryGeneratedColumn() id!: number;
  @Column('integer') tripId!: number;
}

export class TripsController extends CrudController({ entity: Trip, endpoint: '/api/trips' }) {}

@Injectable()
export class TripService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly moduleRef: ModuleRef,
  ) {
    addTransactionalDataSource(dataSource);
  }

  @Transactional()
  async place(title: string): Promise<number> {
    const trips = this.moduleRef.get(TripsController, { strict: false });
    const { data } = await trips.create({ title });
    await this.dataSource.getRepository(TripLog).insert({ tripId: data.id });
    if (title === 'refused') throw new ConflictException();
    return data.id;
  }
}

@Module({
  imports: [CrudModule.forFeature(TripsController), TypeOrmModule.forFeature([TripLog])],
  providers: [TripService],
})
export class TripsModule {}
