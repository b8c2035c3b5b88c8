import { type AnyPath, NoContent, path, type StorageView, Warned } from '@strongroom/engine-sdk';
import type { Tidying } from './schedules.ts';

export function tidyPath(storage: StorageView, tidying: Tidying): AnyPath {
  return path('tidy/secret-id', {
    synopsis: 'Remove expired secret ids.',
    description:
      'A secret id stops working when it expires; a job deletes expired ones every minute. This path starts the job now, in the background.',
    fields: {},
  }).update({
    summary: 'Remove expired secret ids.',
    response: NoContent,
    answers: { 202: Warned },
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
