/** A global interceptor and a global subscriber that record what they see of a generated controller and its twin. */
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { IsNotEmpty } from 'class-validator';
import { type Observable, tap } from 'rxjs';
import {
  Column,
  Entity,
  type EntitySubscriberInterface,
  EventSubscriber,
  type InsertEvent,
  PrimaryGeneratedColumn,
} from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { Seen, startTwins, type Twins } from './twins.js';

abstract class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  @IsNotEmpty()
  text!: string;
}
@Entity()
class GeneratedNote extends Note {}
@Entity()
class HandwrittenNote extends Note {}

let seen: Seen;

@Injectable()
class RecordingInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { method } = context.switchToHttp().getRequest<{ method: string }>();
    seen.add(`${method} starts`);
    return next.handle().pipe(tap({ complete: () => seen.add(`${method} ends`), error: () => seen.add('error') }));
  }
}

@EventSubscriber()
class RecordingSubscriber implements EntitySubscriberInterface {
  afterInsert({ entity, metadata }: InsertEvent<object>): void {
    seen.add([metadata.tableName, { ...entity }]);
  }
}

describe.each(ONE_PLATFORM)('%s', (platform) => {
  describe.each(DATABASES)('%s', (database) => {
    let twins: Twins;

    beforeAll(async () => {
      seen = new Seen();
      twins = await startTwins(platform, {
        database,
        twins: [GeneratedNote, HandwrittenNote],
        seen,
        dataSource: { subscribers: [RecordingSubscriber] },
        providers: [{ provide: APP_INTERCEPTOR, useClass: RecordingInterceptor }],
      });
    });
    afterAll(() => twins.close());

    it('shows a global interceptor and a subscriber the same of both controllers', async () => {
      await twins.both('POST', '', { text: 'one' });
      expect(seen.take()).toEqual(['POST starts', "[ 'twin_note', { id: 1, text: 'one' } ]", 'POST ends']);
      await twins.both('POST', '', { text: 'two' });
      await twins.both('PUT', '/1', { text: 'three' });
      await twins.both('PATCH', '/2', { text: 'four' });
      const list = await twins.both('GET', '');
      expect(list.json.data).toEqual([
        { id: 1, text: 'three' },
        { id: 2, text: 'four' },
      ]);
      await twins.both('DELETE', '/1');
      await twins.both('GET', '/1');
      expect(seen.take().at(-1)).toBe('error');
      expect(await twins.rows()).toEqual([{ row_id: 2, row_text: 'four' }]);
    });

    it('answers both with the same status when the record is wrong', async () => {
      const { status } = await twins.both('POST', '', { text: '' });
      expect(status).toBe(400);
    });
  });
});
