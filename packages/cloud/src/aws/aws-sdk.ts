/** The parts of the SDK that are used. They are loaded when the first call is made: a server without this engine in use does not pay for them. */
export interface AwsSdk {
  readonly iam: typeof import('@aws-sdk/client-iam');
  readonly sts: typeof import('@aws-sdk/client-sts');
}

let loading: Promise<AwsSdk> | undefined;

export function loadAwsSdk(): Promise<AwsSdk> {
  loading ??= load();
  return loading;
}

async function load(): Promise<AwsSdk> {
  // The SDK would write a warning about the version of Node into the server's log.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const [iam, sts] = await Promise.all([import('@aws-sdk/client-iam'), import('@aws-sdk/client-sts')]);
  return { iam, sts };
}
