"""The login of programs with hvac, the Python client, unchanged: run with VAULT_ADDR and VAULT_TOKEN."""
import os

import hvac

address = os.environ["VAULT_ADDR"]
root = hvac.Client(url=address, token=os.environ["VAULT_TOKEN"])
root.sys.enable_auth_method("approle", path="programs")
root.sys.create_or_update_policy("web", 'path "auth/token/lookup-self" { capabilities = ["read"] }')
at = {"mount_point": "programs"}
approle = root.auth.approle

approle.create_or_update_approle(
    "Web", token_policies=["web"], token_ttl="20m", secret_id_ttl="10m", secret_id_num_uses=2, **at
)
assert approle.list_roles(**at)["data"]["keys"] == ["web"]
role = approle.read_role("web", **at)["data"]
assert role["token_policies"] == ["web"] and role["secret_id_num_uses"] == 2, role
approle.update_role_id("web", role_id="web-1", **at)
assert approle.read_role_id("web", **at)["data"]["role_id"] == "web-1"

made = approle.generate_secret_id("web", metadata={"host": "a"}, cidr_list=["127.0.0.1/32"], **at)["data"]
program = hvac.Client(url=address)
login = program.auth.approle.login("web-1", made["secret_id"], **at)
assert login["auth"]["metadata"] == {"host": "a", "role_name": "web"}, login
assert program.is_authenticated()
assert program.lookup_token()["data"]["display_name"] == "programs"
program.auth.token.renew_self()

found = approle.read_secret_id("web", made["secret_id"], **at)["data"]
assert found["secret_id_num_uses"] == 1 and found["metadata"] == {"host": "a"}, found
accessor = made["secret_id_accessor"]
assert approle.list_secret_id_accessors("web", **at)["data"]["keys"] == [accessor]
assert approle.read_secret_id_accessor("web", accessor, **at)["data"] == found
approle.destroy_secret_id_accessor("web", accessor, **at)

approle.create_custom_secret_id("web", "of-my-own", **at)
program.auth.approle.login("web-1", "of-my-own", **at)
approle.destroy_secret_id("web", "of-my-own", **at)

wrapped = approle.generate_secret_id("web", wrap_ttl="60s", **at)["wrap_info"]
opened = hvac.Client(url=address, token=wrapped["token"]).sys.unwrap()["data"]
assert opened["secret_id_accessor"] == wrapped["wrapped_accessor"]
program.auth.approle.login("web-1", opened["secret_id"], **at)

for secret_id in ["of-my-own", made["secret_id"], "wrong"]:
    try:
        hvac.Client(url=address).auth.approle.login("web-1", secret_id, **at)
        raise AssertionError(f"{secret_id} logged in")
    except hvac.exceptions.InvalidRequest as error:
        assert "invalid role or secret ID" in str(error), error

approle.delete_role("web", **at)
try:
    program.auth.token.renew_self()
    raise AssertionError("a token renewed after its role was deleted")
except hvac.exceptions.InvalidRequest as error:
    assert "does not exist during renewal" in str(error), error
print("hvac logged programs in")
