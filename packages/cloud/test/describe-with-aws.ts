import { PutUserPolicyCommand } from '@aws-sdk/client-iam';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { describeWithMoto, startMoto, type MotoServer } from '@strongroom/lab';
import { AwsFront } from './aws-front.ts';
import { Beside, type Key } from './cloud-mount.ts';

const EVERYTHING = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}';

/** moto with a front before it, for one suite. Before each test it is emptied, asks for no rights, and has what `Beside.seed` makes. */
export class AwsForTests {
  moto!: MotoServer;
  front!: AwsFront;
  /** A client that is nobody in particular. */
  beside!: Beside;
  /** The key of user svc. */
  root!: Key;

  async start(): Promise<void> {
    // Without Amazon's own policies it forgets faster.
    this.moto = await startMoto({ env: { MOTO_IAM_LOAD_MANAGED_POLICIES: 'false' } });
    this.front = await AwsFront.start(this.moto.endpoint);
    this.beside = new Beside(this.moto.endpoint);
  }

  async reset(): Promise<void> {
    this.front.reset();
    await this.moto.enforce(Infinity);
    await this.moto.reset();
    this.root = await this.beside.seed();
  }

  /** From now on moto asks for rights, and these users and static2 have all of them. Resolves with a client that is static2. */
  async enforce(...users: readonly string[]): Promise<Beside> {
    for (const UserName of [...users, 'static2']) {
      await this.beside.iam.send(new PutUserPolicyCommand({ UserName, PolicyName: 'everything', PolicyDocument: EVERYTHING }));
    }
    const client = new Beside(this.moto.endpoint, await this.beside.createKey('static2'));
    await this.moto.enforce(0);
    return client;
  }

  async stop(): Promise<void> {
    await this.front?.stop();
    await this.moto?.stop();
  }
}

/** A suite that is left out where moto is missing. */
export function describeWithAws(title: string, suite: (aws: AwsForTests) => void): void {
  describeWithMoto(title, () => {
    const aws = new AwsForTests();
    beforeAll(async () => aws.start(), 60_000);
    afterAll(async () => aws.stop());
    beforeEach(async () => aws.reset());
    suite(aws);
  });
}
