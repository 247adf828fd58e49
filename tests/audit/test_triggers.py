"""Conditions of CI systems under which no change starts the tests."""

from __future__ import annotations

import pytest

from .test_workflows import AZURE, CI, CIRCLE, GITLAB, JOB, found

LAB, CIRCLECI, PIPELINES = ".gitlab-ci.yml", ".circleci/config.yml", "azure-pipelines.yml"
ON = f"on: [push, pull_request]\n{JOB}"
ASKED = f"trigger: [main]\npr: [main]\n{AZURE}"
BUCKET = "pipelines:\n  default:\n    - step:\n        script:\n          - pytest\n"
TRAVIS = "language: python\nscript: pytest\n"
DRONE = "kind: pipeline\nsteps:\n  - name: test\n    commands:\n      - pytest\n"
JENKINS = "stage('Test') {\n  steps {\n    sh 'pytest'\n  }\n}\n"
VEYOR = "test_script:\n  - pytest\n"
LISTED = "    jobs:\n      - build"
ANCHOR = ".base: &base\n  image: python\n\ntest:\n  <<: *base\n  script:\n    - pytest\n"
OF_BRANCH = "  only:\n    refs: [merge_requests, main]\n    changes: ['**/*.py']\n"
DEPLOY = "\ndeploy:\n  script:\n    - twine upload\n  rules:\n    - if: $CI_COMMIT_TAG\n"
RULES = '  rules:\n    - if: $CI_PIPELINE_SOURCE == "merge_request_event"\n'
RULES += "    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH\n"
ALL_BUT = "  rules:\n    - if: $CI_COMMIT_TAG\n      when: never\n    - when: on_success\n"


def on(triggers: str) -> str:
    return ON.replace("[push, pull_request]", triggers)


def circle(filters: str) -> str:
    return CIRCLE.replace("    jobs: [build]\n", f"{LISTED}:\n          filters:\n            {filters}\n")


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (LAB, GITLAB, f"workflow:\n  rules:\n    - when: never\n{GITLAB}"),
        (LAB, GITLAB, f"workflow:\n  rules:\n    - if: $CI_PIPELINE_SOURCE == 'schedule'\n{GITLAB}"),
        (LAB, GITLAB, f"{GITLAB}  rules:\n    - when: never\n    - if: $CI_COMMIT_BRANCH\n"),
        (LAB, GITLAB, f"{GITLAB}  rules:\n    - if: $CI_COMMIT_BRANCH == 'nobody/has'\n"),
        (LAB, GITLAB, f"{GITLAB}  rules:\n    - if: $CI_COMMIT_BRANCH\n      when: manual\n"),
        (LAB, GITLAB, f"{GITLAB}  except: [branches, merge_requests]\n"),
        (LAB, GITLAB, f"{GITLAB}  only:\n    changes: ['docs/*']\n"),
        (LAB, ANCHOR, ANCHOR.replace("image: python", "rules:\n    - when: never")),
        (LAB, GITLAB, f".un{GITLAB}"),
        (CI, ON, on("\n  push:\n    branches-ignore: ['**']\n  workflow_dispatch:")),
        (CI, ON, on("\n  push:\n    branches: [nobody/has]")),
        (CI, ON, on("\n  pull_request:\n    types: [labeled]")),
        (CI, ON, on("\n  workflow_dispatch: {inputs: {push: {default: true}}}")),
        (PIPELINES, ASKED, f"trigger: none\npr: none\n{AZURE}"),
        (PIPELINES, ASKED, f"trigger:\n  paths:\n    exclude: ['*']\npr: none\n{AZURE}"),
        (PIPELINES, AZURE, f"{AZURE}    condition: eq(variables['Build.Reason'], 'Schedule')\n"),
        (CIRCLECI, CIRCLE, circle("branches:\n              ignore: /.*/")),
        (CIRCLECI, CIRCLE, circle("branches:\n              only: nobody-has")),
        (CIRCLECI, CIRCLE, CIRCLE.replace("  main:\n", "  main:\n    when: false\n")),
        (CIRCLECI, CIRCLE, CIRCLE.replace("main:\n", "main:\n    triggers: [{schedule: {cron: 0 0 1 1 *}}]\n")),
        (".travis.yml", TRAVIS, f"{TRAVIS}branches:\n  except:\n    - /.*/\n"),
        (".travis.yml", TRAVIS, f"{TRAVIS}if: tag IS present\n"),
        ("bitbucket-pipelines.yml", BUCKET, BUCKET.replace("default:", "custom:\n   all:")),
        (
            "bitbucket-pipelines.yml",
            BUCKET,
            BUCKET.replace("step:\n", "step:\n        condition: {changesets: {includePaths: [docs/**]}}\n"),
        ),
        (".drone.yml", DRONE, f"{DRONE}trigger:\n  event: [promote]\n"),
        (".woodpecker.yml", DRONE, f"{DRONE}    when:\n      - event: cron\n"),
        (".appveyor.yml", VEYOR, f"branches:\n  only: [nobody-has]\n{VEYOR}"),
        ("Jenkinsfile", JENKINS, JENKINS.replace("  steps", "  when { branch 'nobody/has' }\n  steps")),
        ("Jenkinsfile", JENKINS, JENKINS.replace("    sh 'pytest'", "    catchError {\n      sh 'pytest'\n    }")),
    ],
)  # fmt: skip
def test_a_condition_that_no_change_meets_is_named(path: str, old: str, new: str) -> None:
    assert len(found(path, old, new)) == 1


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (LAB, GITLAB, f"{GITLAB}{RULES}"),
        (LAB, GITLAB, f"{GITLAB}{ALL_BUT}"),
        (LAB, GITLAB, f"{GITLAB}{OF_BRANCH}"),
        (LAB, GITLAB, f"{GITLAB}  except: [tags, schedules]\n"),
        (LAB, GITLAB, f"workflow:\n  name: a\n{RULES}{GITLAB}"),
        (LAB, GITLAB, f"{GITLAB}{DEPLOY}"),
        (LAB, GITLAB, ANCHOR),
        (CI, ON, on("\n  push:\n    branches-ignore: [gh-pages]\n  workflow_dispatch:")),
        (CI, ON, on("\n  pull_request:\n  schedule:\n    - cron: 0 0 * * 1")),
        (CI, ON, on("\n  push:\n    branches: ['release/*', main]")),
        (PIPELINES, ASKED, f"trigger: none\npr: ['*']\n{AZURE}"),
        (PIPELINES, AZURE, f"trigger:\n  branches:\n    include: [main]\n    exclude: [old/*]\n{AZURE}"),
        (PIPELINES, AZURE, f"{AZURE}    condition: succeededOrFailed()\n"),
        (CIRCLECI, CIRCLE, circle("tags:\n              only: /^v.*/")),
        (CIRCLECI, CIRCLE, circle("branches:\n              ignore: gh-pages")),
        (CIRCLECI, CIRCLE, CIRCLE.replace("workflows:\n", "workflows:\n  version: 2\n")),
        (".travis.yml", TRAVIS, f"{TRAVIS}if: branch = main OR type = pull_request\n"),
        (".travis.yml", TRAVIS, f"{TRAVIS}branches:\n  only:\n    - master\n    - /^v\\d/\n"),
        ("bitbucket-pipelines.yml", BUCKET, BUCKET.replace("default:", "pull-requests:\n   '**':")),
        (".drone.yml", DRONE, f"{DRONE}trigger:\n  event: [push, pull_request]\n"),
        (".woodpecker.yml", DRONE, f"when:\n  - event: pull_request\n  - event: push\n    branch: main\n{DRONE}"),
        ("Jenkinsfile", JENKINS, JENKINS.replace("sh 'pytest'", "sh 'pytest -q'")),
        ("Jenkinsfile", JENKINS, f"{JENKINS}stage('Deploy') {{\n  when {{ branch 'main' }}\n}}\n"),
    ],
)  # fmt: skip
def test_one_that_changes_meet_is_not(path: str, old: str, new: str) -> None:
    assert found(path, old, new) == []
