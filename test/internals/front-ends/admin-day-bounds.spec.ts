/** The bounds of a day that filter date-times in `AdminFor`, in the time zone of the browser. */
import { endOfDay, startOfDay } from '../../../packages/ra-data-declarest/admin/src/day-bounds.js';

describe('the bounds of a day', () => {
  const zone = process.env['TZ'];
  afterEach(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });

  it.each([
    ['UTC', '2026-06-15', '2026-06-15T00:00:00.000Z', '2026-06-15T23:59:59.999Z'],
    ['America/New_York', '2026-12-31', '2026-12-31T05:00:00.000Z', '2027-01-01T04:59:59.999Z'],
    // The clock goes forward, and back.
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', '2026-03-29T21:59:59.999Z'],
    ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', '2026-10-25T22:59:59.999Z'],
    // The day begins at one o'clock.
    ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00.000Z', '2018-11-05T01:59:59.999Z'],
  ])('are in %s those of %s', (zone, day, start, end) => {
    process.env['TZ'] = zone;
    expect([startOfDay(day), endOfDay(day)]).toEqual([start, end]);
  });

  it('are empty without a day', () => {
    expect([startOfDay(''), endOfDay('')]).toEqual(['', '']);
  });
});
