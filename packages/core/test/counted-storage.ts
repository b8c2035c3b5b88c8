import type { StorageDriver } from '@strongroom/storage-sdk';

/** What a store was asked for. */
export interface Counts {
  gets: number;
  ranges: number;
  /** Entries that ranges listed. */
  listed: number;
  commits: number;
}

/** The same store, which counts what it is asked for. */
export function countedStorage(driver: StorageDriver): { storage: StorageDriver; costs(work: () => Promise<unknown>): Promise<Counts> } {
  const counts: Counts = { gets: 0, ranges: 0, listed: 0, commits: 0 };
  const { get, range, commit } = { get: driver.get.bind(driver), range: driver.range.bind(driver), commit: driver.commit.bind(driver) };
  driver.get = (...args) => {
    counts.gets += 1;
    return get(...args);
  };
  driver.range = async (...args) => {
    const found = await range(...args);
    counts.ranges += 1;
    counts.listed += found.length;
    return found;
  };
  driver.commit = async (...args) => {
    counts.commits += 1;
    return commit(...args);
  };
  return {
    storage: driver,
    costs: async (work) => {
      const before = { ...counts };
      await work();
      const { gets, ranges, listed, commits } = counts;
      return {
        gets: gets - before.gets,
        ranges: ranges - before.ranges,
        listed: listed - before.listed,
        commits: commits - before.commits,
      };
    },
  };
}
