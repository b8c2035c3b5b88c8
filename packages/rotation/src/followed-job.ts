import type { AnySchedule } from '@strongroom/engine-sdk';

/** The job, and then what its runs may have brought about. */
export function followed(job: AnySchedule, then: () => void): AnySchedule {
  return {
    ...job,
    run: async (...run) => {
      const next = await job.run(...run);
      then();
      return next;
    },
  };
}
