import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { describeWithMoto, startMoto, type MotoServer } from '../src/index.ts';

jest.setTimeout(60_000);

describeWithMoto('moto', () => {
  let moto: MotoServer;
  beforeAll(async () => {
    moto = await startMoto();
  }, 60_000);
  afterAll(async () => moto.stop());

  /** A call of IAM that is signed by nobody. */
  const iam = async (parameters: Record<string, string>): Promise<{ status: number; body: string }> => {
    const answer = await fetch(moto.endpoint, {
      method: 'POST',
      body: new URLSearchParams({ Version: '2010-05-08', ...parameters }),
      headers: {
        authorization: 'AWS4-HMAC-SHA256 Credential=NOBODY/20300101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=00',
      },
    });
    return { status: answer.status, body: await answer.text() };
  };

  test('has the managed policies, and forgets on reset what was made', async () => {
    expect(await iam({ Action: 'GetPolicy', PolicyArn: 'arn:aws:iam::aws:policy/ReadOnlyAccess' })).toMatchObject({ status: 200 });
    expect(await iam({ Action: 'CreateUser', UserName: 'ann' })).toMatchObject({ status: 200 });
    expect(await iam({ Action: 'GetUser', UserName: 'ann' })).toMatchObject({ status: 200 });
    await moto.reset();
    expect(await iam({ Action: 'GetUser', UserName: 'ann' })).toMatchObject({ status: 404 });
  });

  test('enforces credentials after the number of calls that the test sets', async () => {
    await moto.enforce(1);
    expect(await iam({ Action: 'ListUsers' })).toMatchObject({ status: 200 });
    expect(await iam({ Action: 'ListUsers' })).toMatchObject({ status: 403, body: expect.stringContaining('InvalidClientTokenId') });
    await moto.enforce(Infinity);
    expect(await iam({ Action: 'ListUsers' })).toMatchObject({ status: 200 });
  });
});
