import { path, type AnyPath, type StorageView } from '@strongroom/engine-sdk';
import type { Tidying } from './schedules.ts';

export function tidyPath(storage: StorageView, tidying: Tidying): AnyPath {
  return path('tidy/secret-id', {
    synopsis: 'Removal of expired secret ids.',
    description: 'Expired secret ids are refused at once and removed once a minute. This removes them now, in the background.',
    fields: {},
  }).update({
    summary: 'Remove expired secret ids.',
    handle: async () =>
      (await tidying.start(storage))
        ? {
            status: 202,
            warnings: [
              'Tidy operation successfully started. Any information from the operation will be printed to the logs of the server.',
            ],
          }
        : { warnings: ['Tidy operation already in progress.'] },
  });
}
