/** Images in other widths, by sharp where it is installed. */
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { BadRequestException } from '@nestjs/common';

/** Larger ones would take too much memory: a few bytes can be an image of any size. */
const MAX_PIXELS = 50_000_000;
export const MAX_WIDTH = 2_000;

const SCALED_TYPES = ['image/jpeg', 'image/png', 'image/webp', 'image/avif', 'image/gif', 'image/tiff'];

/** Whether images of one of these media types can be scaled here. */
export const canScale = (types: readonly string[]): boolean =>
  types.some((type) => SCALED_TYPES.includes(type)) && isInstalled;

const isInstalled = ((): boolean => {
  try {
    return createRequire(import.meta.url).resolve('sharp') !== '';
  } catch {
    return false;
  }
})();

/** @throws 400 for a text that is no width */
export function readWidth(text: string | undefined, type: string): number | undefined {
  if (text === undefined) return undefined;
  const width = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : Infinity;
  if (width > MAX_WIDTH) throw refusal(`must be an integer from 1 to ${MAX_WIDTH}`);
  if (!SCALED_TYPES.includes(type)) throw refusal('is for images only');
  return width;
}

/** Scales an image down, turned as its EXIF data say. @throws 400 for one that is damaged or too large */
export async function scaleImage(bytes: Readable, width: number): Promise<Buffer> {
  const { default: sharp } = await import('sharp');
  const image = sharp({ limitInputPixels: MAX_PIXELS }).rotate().resize({ width, withoutEnlargement: true });
  let isRead = false;
  bytes.once('end', () => (isRead = true));
  try {
    const [scaled] = await Promise.all([image.toBuffer(), pipeline(bytes, image)]);
    return scaled;
  } catch (error) {
    if (!isRead) throw error;
    throw refusal('cannot be applied: the image is damaged or too large');
  }
}

const refusal = (message: string): BadRequestException =>
  new BadRequestException({ message: 'The query is not valid', errors: [{ field: 'width', message }] });
