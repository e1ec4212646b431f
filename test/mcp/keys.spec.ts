/** Tools for callers with API keys: those that rules give them are listed. */
import { SecurityConfig } from 'declarest';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { startMcp } from './service.js';

class Rules extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('/mcp');
    this.requireRole('LOGIN', 'POST /items');
    this.requireRole('KEY', 'DELETE /items/*');
  }
}

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  it('a key sees what takes keys, and a login what takes logins', async () => {
    const service = await startMcp(platform, {
      auth: { plugins: [{ name: 'keys', setup: (core) => core.identifyKeys() }] },
      providers: [Rules],
    });
    const toolsOf = async (roles: string[]): Promise<string[]> => {
      const client = await service.connect({ sub: 1, roles });
      const { tools } = await client.listTools();
      return tools.map(({ name }) => name).filter((name) => ['createItem', 'deleteItem', 'listItems'].includes(name));
    };
    expect((await toolsOf(['USER'])).toSorted()).toEqual(['createItem', 'listItems']);
    expect((await toolsOf(['USER', 'KEY'])).toSorted()).toEqual(['deleteItem', 'listItems']);
    await service.close();
  });
});
