import type { Readable } from 'node:stream';
import { DeleteObjectCommand, GetObjectCommand, paginateListObjectsV2, type S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { FileStorage, StoredObject } from '../file-storage.js';

export interface S3StorageOptions {
  /** With the region, the endpoint and the credentials. */
  readonly client: S3Client;
  /** An existing bucket, which nobody reads but the application. */
  readonly bucket: string;
  /**
   * Comes before each key. Applications that share a bucket need different ones.
   * @default ''
   * @example 'tickets/'
   */
  readonly prefix?: string;
}

/**
 * Keeps files in a bucket of S3, or of a server with its API such as MinIO.
 * @example s3Storage({ client: new S3Client({ region: 'eu-north-1' }), bucket: 'tickets' })
 */
export function s3Storage({ client, bucket: Bucket, prefix: own = '' }: S3StorageOptions): FileStorage {
  return {
    async write(key, bytes, type) {
      const params = { Bucket, Key: own + key, Body: bytes, ContentType: type };
      // One part of 5 MiB at a time is in memory.
      await new Upload({ client, params, queueSize: 1 }).done();
    },
    async read(key, range) {
      const command = new GetObjectCommand({
        Bucket,
        Key: own + key,
        ...(range && { Range: `bytes=${range.start}-${range.end}` }),
      });
      try {
        return (await client.send(command)).Body as Readable;
      } catch (error) {
        if ((error as Error).name === 'NoSuchKey') return undefined;
        throw error;
      }
    },
    async remove(key) {
      await client.send(new DeleteObjectCommand({ Bucket, Key: own + key }));
    },
    async *list(prefix): AsyncGenerator<StoredObject> {
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix: own + prefix }))
        for (const { Key = '', LastModified: changedAt = new Date() } of Contents)
          yield { key: Key.slice(own.length), changedAt };
    },
  };
}
