import { startRuled } from '../access/ruled-app.js';

it('accessMatrix(app) refuses an application that was created before declarest/testing was imported', async () => {
  const app = await startRuled('express', { routes: ['DELETE everything'] });
  const { accessMatrix } = await import('declarest/testing');
  await expect(accessMatrix(app.app)).rejects.toThrow(
    'declarest/testing must be imported before the application is created, got imported later. Import it at the top',
  );
  expect(app.entered).toEqual([]);
  await app.close();
});
