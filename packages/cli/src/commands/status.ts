import { defineCommand } from '../command.ts';
import { EXIT, Failure } from '../failure.ts';
import { leaderOf, showSealStatus } from './seal-status.ts';

export default defineCommand({
  name: 'status',
  synopsis: 'Print seal and high-availability status',
  description: 'Prints the state of the server. Exit code 0: unsealed, 2: sealed, 1: it could not be asked.',
  args: [],
  flags: {},
  examples: [{ text: 'Is the server up and unsealed?', command: 'status' }],
  async run({ out, client }) {
    const api = client();
    try {
      const seal = await api.record('GET', 'sys/seal-status', { unwrapped: true });
      await showSealStatus(out, seal, await leaderOf(api));
      return seal['sealed'] === true ? EXIT.remote : EXIT.ok;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw new Failure(`Error checking seal status: ${error.message}`, EXIT.local);
    }
  },
});
