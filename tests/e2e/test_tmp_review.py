from tests.e2e.test_review import *
def test_tmp(deployed):
    rig = deployed
    name = rig.one(RESOURCE_GROUP, claim="two", namespace=rig.name)["metadata"]["name"]
    group = create_global_resource(*RESOURCE_GROUP, "resourcegroups")
    rig.client.patch(group, name, {"spec": {"location": "Elsewhere"}}, patch_type=PatchType.MERGE)
    print(rig.one(RESOURCE_GROUP, claim="two", namespace=rig.name)["spec"])
    r=rig.pulumi("refresh", "--stack", "dev", "--yes", "--skip-preview"); print(r.text[-3000:])
    print(rig.one(RESOURCE_GROUP, claim="two", namespace=rig.name)["spec"])
    ran = rig.ok(rig.pulumi("preview", "--stack", "dev", "--json"))
    for s in json.loads(ran.out)["steps"]:
        if 'two/resource-group' in s['urn']: print(json.dumps(s,indent=1))
    assert 0
