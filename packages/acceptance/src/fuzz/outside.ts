import {
  motoMissing,
  slapdMissing,
  startMoto,
  startPostgres,
  startSlapd,
  type MotoServer,
  type PostgresServer,
  type Slapd,
} from '@strongroom/lab';

/** The outside systems that stay up while a server is fuzzed. One that cannot be had here is undefined. */
export interface Outside {
  readonly postgres: PostgresServer;
  readonly slapd: Slapd | undefined;
  readonly moto: MotoServer | undefined;
  /** Which are missing, and why. */
  readonly missing: readonly string[];
  stop(): Promise<void>;
}

/** Two accounts with entries of their own that may change everything. */
const MANAGERS = `access to * ${[19, 20].map((n) => `by dn.exact="uid=svc${n},ou=svc,dc=example,dc=org" manage`).join(' ')} by * read`;

export async function startOutside(): Promise<Outside> {
  const running: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    for (const one of running.splice(0).reverse()) await one.stop();
  };
  const started = async <One extends { stop(): Promise<void> }>(starting: Promise<One>): Promise<One> => {
    const one = await starting;
    running.push(one);
    return one;
  };
  try {
    const postgres = await started(startPostgres());
    const slapd = slapdMissing === undefined ? await started(startSlapd({ config: MANAGERS })) : undefined;
    const moto = motoMissing === undefined ? await started(startMoto()) : undefined;
    return { postgres, slapd, moto, missing: [slapdMissing, motoMissing].filter((reason) => reason !== undefined), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
