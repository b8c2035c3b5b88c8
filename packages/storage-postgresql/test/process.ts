// One more node over a table, to be stopped: `process.ts <connection url> <table>`. It writes three keys without end, with 32 callers.
import { postgresqlStorage } from '../src/index.ts';

const [connectionUrl = '', table = ''] = process.argv.slice(2);
const driver = await postgresqlStorage({ connectionUrl, table });
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

async function write(caller: number): Promise<void> {
  for (let i = 0; ; i++) {
    const key = `held/${(caller + i) % 3}`;
    try {
      await driver.commit({ put: ['held/0', key].map((each) => ({ key: each, value: Buffer.from(`${caller} ${i}`) })) });
      if (i % 20 === 0) say('wrote');
    } catch (error) {
      say(`failed: ${(error as Error).message}`);
    }
  }
}

say('ready');
await Promise.all(Array.from({ length: 32 }, (_, caller) => write(caller)));
