import type { IAMClient } from '@aws-sdk/client-iam';
import { mapConcurrently } from '@strongroom/engine-sdk';
import { codeOf } from './aws-faults.ts';
import type { AwsSdk } from './aws-sdk.ts';
import { allPages } from './pages.ts';

const CONCURRENCY = 4;

/**
 * Takes away all that hangs on a user, then the user. First what the engine gives to users; what else there is keeps IAM from deleting the user,
 * and is looked for then. Throws what the SDK throws.
 */
export class UserRemoval {
  readonly #sdk: AwsSdk['iam'];
  readonly #iam: IAMClient;
  readonly #user: { readonly UserName: string };
  readonly #options: { readonly abortSignal: AbortSignal };

  constructor(sdk: AwsSdk, iam: IAMClient, name: string, abortSignal: AbortSignal) {
    this.#sdk = sdk.iam;
    this.#iam = iam;
    this.#user = { UserName: name };
    this.#options = { abortSignal };
  }

  async run(): Promise<void> {
    // Whatever else cannot be taken away: without its keys the user can do nothing any more.
    const first = await Promise.allSettled([this.#keys(), this.#attachedPolicies(), this.#inlinePolicies(), this.#groups()]);
    for (const outcome of first) if (outcome.status === 'rejected') throw outcome.reason;
    try {
      await this.#deleteUser();
      return;
    } catch (error) {
      if (codeOf(error) !== 'DeleteConflict') throw error;
    }
    const rest = await Promise.allSettled([
      this.#loginProfile(),
      this.#mfaDevices(),
      this.#sshKeys(),
      this.#signingCertificates(),
      this.#serviceCredentials(),
      this.#boundary(),
      // What was not listed yet a moment ago.
      this.#keys(),
      this.#attachedPolicies(),
      this.#inlinePolicies(),
      this.#groups(),
    ]);
    const failed = rest.find((outcome) => outcome.status === 'rejected');
    try {
      await this.#deleteUser();
    } catch (error) {
      // What could not be taken away says more than the conflict that it leads to.
      throw codeOf(error) === 'DeleteConflict' && failed ? failed.reason : error;
    }
  }

  async #deleteUser(): Promise<void> {
    await gone(this.#iam.send(new this.#sdk.DeleteUserCommand(this.#user), this.#options));
  }

  async #keys(): Promise<void> {
    const { ListAccessKeysCommand, DeleteAccessKeyCommand } = this.#sdk;
    const keys = await gone(
      allPages(
        async (from) => this.#iam.send(new ListAccessKeysCommand({ ...this.#user, ...from }), this.#options),
        (page) => page.AccessKeyMetadata,
      ),
    );
    await mapConcurrently(keys ?? [], CONCURRENCY, async ({ AccessKeyId }) => {
      await gone(this.#iam.send(new DeleteAccessKeyCommand({ ...this.#user, AccessKeyId }), this.#options));
    });
  }

  async #attachedPolicies(): Promise<void> {
    const { ListAttachedUserPoliciesCommand, DetachUserPolicyCommand } = this.#sdk;
    const policies = await gone(
      allPages(
        async (from) => this.#iam.send(new ListAttachedUserPoliciesCommand({ ...this.#user, ...from }), this.#options),
        (page) => page.AttachedPolicies,
      ),
    );
    await mapConcurrently(policies ?? [], CONCURRENCY, async ({ PolicyArn }) => {
      await gone(this.#iam.send(new DetachUserPolicyCommand({ ...this.#user, PolicyArn }), this.#options));
    });
  }

  async #inlinePolicies(): Promise<void> {
    const { ListUserPoliciesCommand, DeleteUserPolicyCommand } = this.#sdk;
    const names = await gone(
      allPages(
        async (from) => this.#iam.send(new ListUserPoliciesCommand({ ...this.#user, ...from }), this.#options),
        (page) => page.PolicyNames,
      ),
    );
    await mapConcurrently(names ?? [], CONCURRENCY, async (PolicyName) => {
      await gone(this.#iam.send(new DeleteUserPolicyCommand({ ...this.#user, PolicyName }), this.#options));
    });
  }

  async #groups(): Promise<void> {
    const { ListGroupsForUserCommand, RemoveUserFromGroupCommand } = this.#sdk;
    const groups = await gone(
      allPages(
        async (from) => this.#iam.send(new ListGroupsForUserCommand({ ...this.#user, ...from }), this.#options),
        (page) => page.Groups,
      ),
    );
    await mapConcurrently(groups ?? [], CONCURRENCY, async ({ GroupName }) => {
      await gone(this.#iam.send(new RemoveUserFromGroupCommand({ ...this.#user, GroupName }), this.#options));
    });
  }

  async #loginProfile(): Promise<void> {
    await gone(this.#iam.send(new this.#sdk.DeleteLoginProfileCommand(this.#user), this.#options));
  }

  async #mfaDevices(): Promise<void> {
    const { ListMFADevicesCommand, DeactivateMFADeviceCommand, DeleteVirtualMFADeviceCommand } = this.#sdk;
    const devices = await gone(
      allPages(
        async (from) => this.#iam.send(new ListMFADevicesCommand({ ...this.#user, ...from }), this.#options),
        (page) => page.MFADevices,
      ),
    );
    await mapConcurrently(devices ?? [], CONCURRENCY, async ({ SerialNumber }) => {
      await gone(this.#iam.send(new DeactivateMFADeviceCommand({ ...this.#user, SerialNumber }), this.#options));
      // Hardware has a serial number of its own; a virtual device is an entity, and would stay behind.
      if (SerialNumber?.includes(':mfa/')) await gone(this.#iam.send(new DeleteVirtualMFADeviceCommand({ SerialNumber }), this.#options));
    });
  }

  async #sshKeys(): Promise<void> {
    const { ListSSHPublicKeysCommand, DeleteSSHPublicKeyCommand } = this.#sdk;
    const keys = await gone(
      allPages(
        async (from) => this.#iam.send(new ListSSHPublicKeysCommand({ ...this.#user, ...from }), this.#options),
        (page) => page.SSHPublicKeys,
      ),
    );
    await mapConcurrently(keys ?? [], CONCURRENCY, async ({ SSHPublicKeyId }) => {
      await gone(this.#iam.send(new DeleteSSHPublicKeyCommand({ ...this.#user, SSHPublicKeyId }), this.#options));
    });
  }

  async #signingCertificates(): Promise<void> {
    const { ListSigningCertificatesCommand, DeleteSigningCertificateCommand } = this.#sdk;
    const certificates = await gone(
      allPages(
        async (from) => this.#iam.send(new ListSigningCertificatesCommand({ ...this.#user, ...from }), this.#options),
        (page) => page.Certificates,
      ),
    );
    await mapConcurrently(certificates ?? [], CONCURRENCY, async ({ CertificateId }) => {
      await gone(this.#iam.send(new DeleteSigningCertificateCommand({ ...this.#user, CertificateId }), this.#options));
    });
  }

  async #serviceCredentials(): Promise<void> {
    const { ListServiceSpecificCredentialsCommand, DeleteServiceSpecificCredentialCommand } = this.#sdk;
    const credentials = await gone(
      allPages(
        async (from) => this.#iam.send(new ListServiceSpecificCredentialsCommand({ ...this.#user, ...from }), this.#options),
        (page) => page.ServiceSpecificCredentials,
      ),
    );
    await mapConcurrently(credentials ?? [], CONCURRENCY, async ({ ServiceSpecificCredentialId }) => {
      await gone(this.#iam.send(new DeleteServiceSpecificCredentialCommand({ ...this.#user, ServiceSpecificCredentialId }), this.#options));
    });
  }

  async #boundary(): Promise<void> {
    await gone(this.#iam.send(new this.#sdk.DeleteUserPermissionsBoundaryCommand(this.#user), this.#options));
  }
}

/** What is not there any more has been taken away. */
export async function gone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (codeOf(error) === 'NoSuchEntity') return undefined;
    throw error;
  }
}
