import { BadRequestException } from '@nestjs/common';

/** The global ValidationPipe converts the path parameter; with ParseIntPipe it would be converted twice. */
export function assertId(id: number): void {
  if (!Number.isSafeInteger(id)) throw new BadRequestException('Validation failed (numeric string is expected)');
}
