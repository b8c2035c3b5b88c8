import { jest } from '@jest/globals';
import { startOpensearchDouble } from '@strongroom/lab';
import { describeCrashOutside } from './crash-outside-suite.ts';
import { opensearchOutside } from './outside-servers.ts';

jest.setTimeout(60_000);

describeCrashOutside(
  'a double of OpenSearch',
  async () => {
    const double = await startOpensearchDouble();
    const outside = await opensearchOutside(double);
    return {
      ...outside,
      stop: async () => {
        await outside.stop();
        await double.stop();
      },
    };
  },
  // A role of its own makes a creation of three looks and three changes, and a removal of two looks and three.
  { creation: 6, removal: 5, rotation: 4, root: 4 },
);
