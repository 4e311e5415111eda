"""The social network of BFCL's conversations: posts, comments, reposts and followed users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genbench.tools.bfcl.service import Release, Result, Service, failed


class TwitterAPI(Service):
    """A social network with one account, which must be authenticated before it writes."""

    def __init__(self, config: Mapping[str, Any], *, padded: bool = False, release: Release = "v3") -> None:
        super().__init__(config, padded=padded, release=release)
        self.username = self._given("username", "john")
        self.password = self._given("password", "john123")
        self.authenticated = self._given("authenticated", False)
        tweets: dict[Any, Result] = self._given("tweets", {})
        self.tweets = {int(number): tweet for number, tweet in tweets.items()}
        self.comments: dict[Any, list[Result]] = self._given("comments", {})
        self.retweets: dict[str, list[int]] = self._given("retweets", {})
        self.following_list = self._given("following_list", ["alice", "bob"])
        self.tweet_counter = self._given("tweet_counter", 0)

    def _refusal(self, doing: str) -> Result:
        return failed(f"User not authenticated. Please authenticate before {doing}.")

    def authenticate_twitter(self, username: str, password: str) -> Result:
        """Log in. A wrong password does not log out."""
        is_right = username == self.username and password == self.password
        self.authenticated = self.authenticated or is_right
        return {"authentication_status": is_right}

    def posting_get_login_status(self) -> Result:
        """Tell whether the user is logged in."""
        return {"login_status": bool(self.authenticated)}

    def post_tweet(
        self, content: str, tags: list[str] | None = None, mentions: list[str] | None = None
    ) -> Result:
        """Write a post."""
        if not self.authenticated:
            return self._refusal("posting")
        tweet = {
            "id": self.tweet_counter,
            "username": self.username,
            "content": content,
            "tags": [] if tags is None else tags,
            "mentions": [] if mentions is None else mentions,
        }
        self.tweets[self.tweet_counter] = tweet
        self.tweet_counter += 1
        return tweet

    def retweet(self, tweet_id: int) -> Result:
        """Repost a post once."""
        if not self.authenticated:
            return self._refusal("retweeting")
        if tweet_id not in self.tweets:
            return _unknown(tweet_id)
        own = self.retweets.setdefault(self.username, [])
        if tweet_id in own:
            return {"retweet_status": "Already retweeted"}
        own.append(tweet_id)
        return {"retweet_status": "Successfully retweeted"}

    def comment(self, tweet_id: int, comment_content: str) -> Result:
        """Comment on a post.

        Raises:
            TypeError: nobody is logged in. The function of v3 fails so, and v4 has a message.
        """
        if not self.authenticated and not self._is_v4:
            raise TypeError("exceptions must derive from BaseException")
        if not self.authenticated:
            return self._refusal("commenting")
        if tweet_id not in self.tweets:
            return _unknown(tweet_id)
        self.comments.setdefault(tweet_id, []).append({"username": self.username, "content": comment_content})
        return {"comment_status": "Comment added successfully"}

    def mention(self, tweet_id: int, mentioned_usernames: list[str]) -> Result:
        """Mention users in a post."""
        if tweet_id not in self.tweets:
            return _unknown(tweet_id)
        self.tweets[tweet_id]["mentions"].extend(mentioned_usernames)
        return {"mention_status": "Users mentioned successfully"}

    def follow_user(self, username_to_follow: str) -> Result:
        """Follow a user."""
        if not self.authenticated:
            return self._refusal("following")
        is_new = username_to_follow not in self.following_list
        if is_new:
            self.following_list.append(username_to_follow)
        return {"follow_status": is_new}

    def unfollow_user(self, username_to_unfollow: str) -> Result:
        """Stop following a user."""
        if not self.authenticated:
            return self._refusal("unfollowing")
        is_followed = username_to_unfollow in self.following_list
        if is_followed:
            self.following_list.remove(username_to_unfollow)
        return {"unfollow_status": is_followed}

    def list_all_following(self) -> Result | list[str]:
        """List the followed users."""
        if not self.authenticated:
            return self._refusal("listing following")
        following: list[str] = self.following_list
        return {"following_list": following} if self._is_v4 else following

    def get_tweet(self, tweet_id: int) -> Result:
        """Return a post."""
        return self.tweets.get(tweet_id) or _unknown(tweet_id)

    def get_user_tweets(self, username: str) -> list[Result]:
        """Return the posts of a user."""
        return [tweet for tweet in self.tweets.values() if tweet["username"] == username]

    def search_tweets(self, keyword: str) -> list[Result]:
        """Return the posts with a text in them, or with a tag of that name, whatever the case."""
        wanted = keyword.lower()
        return [
            tweet
            for tweet in self.tweets.values()
            if wanted in tweet["content"].lower() or wanted in map(str.lower, tweet["tags"])
        ]

    def get_tweet_comments(self, tweet_id: int) -> Result | list[Result]:
        """Return the comments on a post."""
        return self.comments.get(tweet_id, []) if tweet_id in self.tweets else _unknown(tweet_id)

    def get_user_stats(self, username: str) -> Result:
        """Count a user's posts, followed users and reposts."""
        return {
            "tweet_count": len(self.get_user_tweets(username)),
            "following_count": len(self.following_list) if username == self.username else 0,
            "retweet_count": len(self.retweets.get(username, [])),
        }


def _unknown(tweet_id: int) -> Result:
    return failed(f"Tweet with ID {tweet_id} not found.")
