/** `?width=` of declarest-files: images that sharp scales down. */
import sharp from 'sharp';
import { PLATFORMS } from '../harness/platforms.js';
import { wrongFields } from '../crud/service.js';
import { JPEG, PDF, startTickets, type Tickets } from './tickets.js';

describe.each(PLATFORMS)('on %s', (platform) => {
  let service: Tickets;
  let path: string;
  beforeAll(async () => {
    service = await startTickets(platform);
    path = `/tickets/${(await service.as('ann', 'POST', '/tickets', { title: 'Lamp' })).json.data.id}`;
  });
  afterAll(() => service.close());

  const image = (format: 'png' | 'jpeg'): Promise<Buffer> =>
    sharp({ create: { width: 60, height: 40, channels: 3, background: 'red' } })
      .toFormat(format)
      .toBuffer();

  it.each(['png', 'jpeg'] as const)('scales a %s down, and no smaller one up', async (format) => {
    await service.upload(`${path}/photo`, await image(format), { type: `image/${format}` });
    const whole = await service.download(`${path}/photo`);
    for (const [width, size] of [
      [30, [30, 20]],
      [2_000, [60, 40]],
    ] as const) {
      const { status, headers, body } = await service.download(`${path}/photo?width=${width}`);
      expect([status, headers.get('content-type')]).toEqual([200, `image/${format}`]);
      const scaled = await sharp(body).metadata();
      expect([scaled.width, scaled.height, scaled.format]).toEqual([...size, format]);
      expect(headers.get('etag')).toBe(whole.headers.get('etag')?.replace(/"$/, `-${width}"`));
      const known = { 'if-none-match': headers.get('etag') ?? '' };
      expect((await service.download(`${path}/photo?width=${width}`, known)).status).toBe(304);
    }
  });

  it('turns it as a camera says', async () => {
    const turned = await sharp(await image('jpeg'))
      .withMetadata({ orientation: 6 })
      .toBuffer();
    await service.upload(`${path}/photo`, turned, { type: 'image/jpeg' });
    const { body } = await service.download(`${path}/photo?width=20`);
    const { width = 0, height = 0 } = await sharp(body).metadata();
    expect(height).toBeGreaterThan(width);
  });

  it('refuses what is no width, no image, damaged or too large', async () => {
    await service.upload(`${path}/photo`, await image('png'));
    for (const width of ['0', '-1', '1.5', '2001', 'x', ''])
      expect(wrongFields(await service.as('ann', 'GET', `${path}/photo?width=${width}`))).toEqual(['width']);
    await service.upload(`${path}/photo`, JPEG, { type: 'image/jpeg' });
    expect(wrongFields(await service.as('ann', 'GET', `${path}/photo?width=10`))).toEqual(['width']);
    const bomb = sharp({ create: { width: 9_000, height: 9_000, channels: 3, background: 'red' } });
    const body = await bomb.png({ palette: true, colours: 2, compressionLevel: 9 }).toBuffer();
    expect((await service.upload(`${path}/photo`, body)).status).toBe(200);
    expect(wrongFields(await service.as('ann', 'GET', `${path}/photo?width=10`))).toEqual(['width']);
    await service.upload(`${path}/report`, PDF, { type: 'application/pdf', as: 'eve:STAFF' });
    expect((await service.as('eve:STAFF', 'GET', `${path}/report?width=10`)).status).toBe(400);
  });
});
